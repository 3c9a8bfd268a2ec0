import type { PaymentStore } from '../../lib/store/payment-store.js';
import { paymentStoreContract, type TestClock } from '../../lib/testing/index.js';
import {
  AnyonePostponesStore,
  AnyoneRenewsStore,
  CursorFanOutStore,
  EverWaitingStore,
  ForgetfulStore,
  ForgetsIdsStore,
  HastyPurgeStore,
  LooksBeforeItPinsStore,
  LooksForPurgedIdsStore,
  LostOutboxRowStore,
  OrderByPairStore,
  OwnClockStore,
  ReadThenWriteStore,
  ReplacingAnnouncementStore,
  TypeBlindStore,
  UnlockedReferenceStore,
  UnpinnedStore,
} from './flawed-stores.js';

type FlawedStore = new (options: { readonly clock: TestClock }) => PaymentStore;

/** Each store, what is wrong with it, and cases that must fail for that. */
const FLAWS: readonly (readonly [string, FlawedStore, readonly string[]])[] = [
  [
    'reads, then writes',
    ReadThenWriteStore,
    [
      'of 16 replaces at once from one version, one is written, with its event and its line',
      'of many changes to one payment, each made from what was read, none is lost',
      'of a claim and the fence against it, one is written',
    ],
  ],
  [
    'loses an outbox row',
    LostOutboxRowStore,
    ['of 16 replaces at once from one version, one is written, with its event and its line'],
  ],
  [
    'does not lock the reference',
    UnlockedReferenceStore,
    ['of 16 payments that reach for one referenceLock at once, one gets it'],
  ],
  [
    'does not know of pinned references',
    UnpinnedStore,
    [
      'a pinned reference is taken before and after the payment that held it has released it',
      'a reference that is free is taken by who pins it, and released by nobody',
      'of a pin and the release by the holder at once, both are written, and the reference is taken',
    ],
  ],
  [
    'looks before it pins',
    LooksBeforeItPinsStore,
    [
      'a pinned reference is taken before and after the payment that held it has released it',
      'of a pin and the release by the holder at once, both are written, and the reference is taken',
      'of a pin, a release and a new payment at once, nobody gets the reference afterwards',
    ],
  ],
  [
    'forgets conversationIds',
    ForgetsIdsStore,
    ['a conversationId that the host gave outlives its payment: it stays taken, and nothing is written'],
  ],
  [
    'looks for purged conversationIds before it writes',
    LooksForPurgedIdsStore,
    ['of a purge and repeats at once, no repeat is stored'],
  ],
  [
    'goes by a clock of its own',
    OwnClockStore,
    [
      'a lease keeps its delivery from everyone until it runs out, by the store’s time',
      'leaseDue gives what has come due by the store’s time, the longest due first, up to the limit',
    ],
  ],
  ['lets anyone renew a lease', AnyoneRenewsStore, ['a lease is renewed by nobody but its holder']],
  [
    'lets anyone postpone a delivery',
    AnyonePostponesStore,
    [
      'a delivery is postponed by nobody but its holder, and then has none',
      'whoever lost a delivery to another postpones it no more',
    ],
  ],
  [
    'replaces what was announced',
    ReplacingAnnouncementStore,
    ['announce adds pairs to those of the same handler id and takes none away'],
  ],
  [
    'fans out by a cursor over a sequence',
    CursorFanOutStore,
    ['events that are written while others are fanned out are all fanned out in the end'],
  ],
  [
    'gives a handler types that it did not ask for',
    TypeBlindStore,
    ['leaseDeliveries gives only the types that it is asked for, whatever else the handler id was announced with'],
  ],
  [
    'keeps order for each type by itself',
    OrderByPairStore,
    [
      'a later version waits until the earlier one is acknowledged',
      'a later version waits for an earlier one of a type that is not asked for',
    ],
  ],
  [
    'lets what nobody takes any more hold up later versions',
    EverWaitingStore,
    [
      'a pair that has not been announced for ten minutes holds up no later version',
      'an orphaned delivery that is put off holds up no later version, even for who asks for both types',
    ],
  ],
  [
    'purges a payment whose event waits',
    HastyPurgeStore,
    ['purge keeps a payment while an event of it waits to be fanned out to a known handler'],
  ],
  [
    'forgets idempotency keys',
    ForgetfulStore,
    ['an idempotencyKey outlives its payment: it is found as purged, and stays taken'],
  ],
];

async function failuresOf(Store: FlawedStore): Promise<string[]> {
  const failed: string[] = [];
  for (const check of paymentStoreContract) {
    await check.run({ create: (clock) => Promise.resolve(new Store({ clock })) }).catch(() => failed.push(check.name));
  }
  return failed;
}

test.each(FLAWS)('the contract suite finds a store that %s', async (_flaw, Store, cases) => {
  expect(await failuresOf(Store)).toEqual(expect.arrayContaining([...cases]));
});
