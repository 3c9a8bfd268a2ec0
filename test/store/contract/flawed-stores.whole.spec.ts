import type { PaymentStore } from '../../../lib/store/payment-store.js';
import type { TestClock } from '../../../lib/testing/index.js';
import {
  AnyonePostponesStore,
  AnyoneRenewsStore,
  CursorFanOutStore,
  HastyPurgeStore,
  LooksBeforeItPinsStore,
  LooksForPurgedIdsStore,
  LostOutboxRowStore,
  OneAccountStore,
  OwnClockStore,
  PurgesRefundsLaterStore,
  ReadThenWriteStore,
  RefundBlindStore,
  UnlockedReferenceStore,
} from './flawed-stores.js';
import { paymentStoreContract } from './payment-store-contract.js';

type FlawedStore = new (options: { readonly clock: TestClock }) => PaymentStore;

/**
 * Each store, what is wrong with it, and cases that must fail for that: flaws that only a race, a clock or a look at
 * two accounts shows. What one case in sequence shows, mutation testing covers.
 */
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
    [
      'only one of 16 payments that claim one referenceLock at once gets it',
      'only one of 16 refunds of a payment that are opened at once is stored',
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
  [
    'fans out by a cursor over a sequence',
    CursorFanOutStore,
    ['events that are written while others are fanned out are all fanned out in the end'],
  ],
  [
    'purges a payment whose event waits',
    HastyPurgeStore,
    [
      'purge keeps a payment while an event of it waits to be fanned out to a known handler',
      'purge keeps a payment while an event of a refund waits to be fanned out to a handler known for refunds',
    ],
  ],
  [
    'keeps refunds among the payments',
    OneAccountStore,
    [
      'a payment and a refund with the same ids and keys are two records, and each account finds its own',
      'findByReference gives all refunds of a payment, the oldest createdAt first, and none of another',
      'the same handler id and type in the accounts of payments and of refunds get each the events of its own account',
      'a delivery of a refund is listed, replayed and acknowledged in the account of the refunds alone',
      'counts shows the events and deliveries of refunds in the account of the refunds alone',
      'an event of a refund that no handler of refunds takes does not keep its payment, and is deleted with it',
      'purging the account of refunds forgets its pairs, which then keep no payment; purging that of payments does not',
    ],
  ],
  [
    'purges payments without looking at their refunds',
    RefundBlindStore,
    [
      'purge deletes a settled payment together with its refunds, their history and events',
      ...['refunding', 'unknown', 'in review', 'in a state of a newer release'].map(
        (state) => `purge keeps a payment with all its refunds while one of them is ${state}`,
      ),
      'purge keeps a payment while a refund has a delivery that is open, leased, postponed or parked',
      'purge keeps a payment while an event of a refund waits to be fanned out to a handler known for refunds',
      'an event of a refund that no handler of refunds takes does not keep its payment, and is deleted with it',
      'purging the account of refunds forgets its pairs, which then keep no payment; purging that of payments does not',
      'purge deletes a payment with many refunds at once, and goes on with the next',
      'payments that stay for their refunds, however many, keep no later payment from being purged',
      'concurrent purges delete each payment with its refunds once, and count it and the events of both once',
      'when a purge and a replace of a refund happen at once, only one of them is done',
    ],
  ],
  [
    'purges the refunds of a payment after it',
    PurgesRefundsLaterStore,
    ['a refund that is stored while its payment is purged is kept, and can be settled and published'],
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
