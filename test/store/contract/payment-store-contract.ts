import type { PaymentStore } from '../../../lib/store/payment-store.js';
import { uniqueNameCases } from './unique-names.js';
import { purgeCases } from './purge-cases.js';
import { raceCases } from './race-cases.js';
import { listCases } from './list-cases.js';
import { recordCases } from './record-cases.js';
import { scriptCases } from './store-script.js';
import { at, type StoreCase, StoreTrial } from './store-trial.js';
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
  another?(clock: TestClock): Promise<PaymentStore>;
}

/** What every store must do. */
export const paymentStoreContract: readonly (readonly [what: string, run: StoreCase])[] = [
  scriptCases,
  recordCases,
  listCases,
  uniqueNameCases,
  purgeCases,
  raceCases,
].flatMap((cases) => Object.entries(cases));

/** @param every one in so many cases is run in the short tests: for a store that is much like another one */
export function describePaymentStore(name: string, { create, another }: PaymentStoreSource, every = 1): void {
  describe(name, () => {
    const clock = new TestClock(at(0));
    let stores: readonly PaymentStore[];

    beforeAll(async () => {
      const store = await create(clock);
      stores = another ? [store, await another(clock)] : [store];
    });
    afterAll(async () => {
      for (const store of stores) await store.close();
    });

    it.each(sample(every, paymentStoreContract))('%s', (_what, run) => {
      clock.set(at(0));
      return run(new StoreTrial(stores[0]!, stores.at(-1)!, clock));
    });
  });
}
