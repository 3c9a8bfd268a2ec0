import type { PaymentStore } from '../../../lib/store/payment-store.js';
import { uniqueNameCases } from './unique-names.js';
import { outboxCases } from './outbox-cases.js';
import { purgeCases } from './purge-cases.js';
import { raceCases } from './race-cases.js';
import { listCases } from './list-cases.js';
import { recordCases } from './record-cases.js';
import { at, StoreTrial } from './store-trial.js';
import { sample } from '../../rigs/extent.js';
import { TestClock } from '../../../lib/testing/index.js';

/** How the contract gets the store that it tests. */
interface PaymentStoreSource {
  /**
   * Makes an open store that takes all of its time from this clock. It may contain other data, because each case uses
   * new accounts.
   */
  create(clock: TestClock): Promise<PaymentStore>;
  /** Makes a second open store on the same data, with the same clock. Races then run between the two. */
  another?(store: PaymentStore, clock: TestClock): Promise<PaymentStore>;
}

/** What every store must do, as cases that throw where it does not. */
export const paymentStoreContract = [
  ...recordCases,
  ...listCases,
  ...uniqueNameCases,
  ...outboxCases,
  ...purgeCases,
  ...raceCases,
].map(({ name, run }) => ({
  name,
  async run(source: PaymentStoreSource): Promise<void> {
    const clock = new TestClock(at(0));
    const store = await source.create(clock);
    const second = await source.another?.(store, clock);
    try {
      await run(new StoreTrial(store, second ?? store, clock));
    } finally {
      for (const made of second ? [second, store] : [store]) await made.close();
    }
  },
}));

/** @param every one in so many cases is run in the short tests: for a store that is much like another one */
export function describePaymentStore(name: string, source: PaymentStoreSource, every = 1): void {
  describe(name, () => {
    for (const check of sample(every, paymentStoreContract)) it(check.name, () => check.run(source));
  });
}
