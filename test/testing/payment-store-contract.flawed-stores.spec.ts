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
      'only one of 16 concurrent replaces of one version is written, with its event and line of history',
      'no change is lost when many callers read a payment and replace it',
      'when a claim and its fence are written at once, only one of them is stored',
    ],
  ],
  [
    'loses an outbox row',
    LostOutboxRowStore,
    ['only one of 16 concurrent replaces of one version is written, with its event and line of history'],
  ],
  [
    'does not lock the reference',
    UnlockedReferenceStore,
    ['only one of 16 payments that claim one referenceLock at once gets it'],
  ],
  [
    'does not know of pinned references',
    UnpinnedStore,
    [
      'a pinned reference stays taken before and after its holder releases it',
      'pinning a free reference takes it, and no payment can release it',
      'when a pin and the release by the holder happen at once, both are written and the reference stays taken',
    ],
  ],
  [
    'looks before it pins',
    LooksBeforeItPinsStore,
    [
      'a pinned reference stays taken before and after its holder releases it',
      'when a pin and the release by the holder happen at once, both are written and the reference stays taken',
      'after a pin, a release and an insert at once, no payment gets the reference',
    ],
  ],
  [
    'forgets conversationIds',
    ForgetsIdsStore,
    ['the conversationId of a purged payment stays taken where the host chose it, and nothing is written'],
  ],
  [
    'looks for purged conversationIds before it writes',
    LooksForPurgedIdsStore,
    ['no repeat of a payment is stored while it is purged'],
  ],
  [
    'goes by a clock of its own',
    OwnClockStore,
    [
      'a leased delivery is not leased again until its lease runs out by the store’s time',
      'leaseDue gives the payments that are due by the store’s time, the longest due first, up to the limit',
    ],
  ],
  ['lets anyone renew a lease', AnyoneRenewsStore, ['only the holder of a lease can renew it']],
  [
    'lets anyone postpone a delivery',
    AnyonePostponesStore,
    [
      'only the holder of a lease can postpone its delivery, which ends the lease',
      'a holder whose lease was taken over can no longer postpone the delivery',
    ],
  ],
  ['replaces what was announced', ReplacingAnnouncementStore, ['announce adds pairs to a handler id and removes none']],
  [
    'fans out by a cursor over a sequence',
    CursorFanOutStore,
    ['events that are written while others are fanned out are all fanned out in the end'],
  ],
  [
    'gives a handler types that it did not ask for',
    TypeBlindStore,
    ['leaseDeliveries gives only the types that it is asked for, even where the handler id was announced with more'],
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
    'lets pairs that are no longer announced delay later versions',
    EverWaitingStore,
    [
      'a pair that has not been announced for ten minutes delays no later version',
      'a postponed orphaned delivery delays no later version, even when both types are asked for',
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
    ['the idempotencyKey of a purged payment is found as purged, and stays taken'],
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
