import type { PaymentStore } from '../store/payment-store.js';
import { countCases, timeCases } from './contract/count-and-time-cases.js';
import { dueCases } from './contract/ledger/due-cases.js';
import { recordCases } from './contract/ledger/record-cases.js';
import { referenceCases } from './contract/ledger/reference-cases.js';
import { refundCases } from './contract/ledger/refund-cases.js';
import { settledCases } from './contract/ledger/settled-cases.js';
import { versionCases } from './contract/ledger/version-cases.js';
import { deliveryCases } from './contract/outbox/delivery-cases.js';
import { fanOutCases } from './contract/outbox/fan-out-cases.js';
import { orderCases } from './contract/outbox/order-cases.js';
import { parkedAndOrphanedCases } from './contract/outbox/parked-cases.js';
import { refundEventCases } from './contract/outbox/refund-event-cases.js';
import { purgeCases } from './contract/purge-cases.js';
import { purgedKeyCases } from './contract/purged-key-cases.js';
import { refundPurgeCases } from './contract/refund-purge-cases.js';
import { at, StoreTrial } from './contract/store-trial.js';
import { TestClock } from './test-clock.js';

/** How the suite gets the store that it tests. */
export interface PaymentStoreSource {
  /**
   * Makes an open store that takes all of its time from this clock. It may contain other data, because each case uses
   * new accounts.
   */
  create(clock: TestClock): Promise<PaymentStore>;
  /** Makes a second open store on the same data, with the same clock. Races then run between the two. */
  another?(store: PaymentStore, clock: TestClock): Promise<PaymentStore>;
  /** Ends each store after the case for which it was made. By default it is closed. */
  destroy?(store: PaymentStore): Promise<void>;
}

/** One case of the contract: something that every store must do. */
export interface PaymentStoreCheck {
  readonly name: string;
  /** @throws Error that shows what the store does wrong */
  run(source: PaymentStoreSource): Promise<void>;
}

/** What a test runner offers: Jest, Vitest, Mocha or node:test. */
export interface TestRunner {
  describe(name: string, define: () => void): unknown;
  it(name: string, run: () => Promise<void>): unknown;
}

/** The cases of the contract of a {@link PaymentStore}, for your own test runner. */
export const paymentStoreContract: readonly PaymentStoreCheck[] = [
  ...timeCases,
  // The ledger.
  ...recordCases,
  ...versionCases,
  ...referenceCases,
  ...dueCases,
  ...refundCases,
  ...settledCases,
  // The outbox.
  ...fanOutCases,
  ...deliveryCases,
  ...orderCases,
  ...parkedAndOrphanedCases,
  ...refundEventCases,
  // Both.
  ...purgeCases,
  ...purgedKeyCases,
  ...refundPurgeCases,
  ...countCases,
].map(({ name, run }) => ({
  name,
  async run(source) {
    const clock = new TestClock(at(0));
    const store = await source.create(clock);
    const second = await source.another?.(store, clock);
    try {
      await run(new StoreTrial(store, second ?? store, clock));
    } finally {
      for (const made of second ? [second, store] : [store]) await (source.destroy?.(made) ?? made.close());
    }
  },
}));

const globals: object = globalThis;

/**
 * Tests your own store, in its test file:
 *
 * ```ts
 * describePaymentStore('MyStore', { create: async (clock) => new MyStore({ clock }) });
 * ```
 *
 * @param runner by default the global `describe` and `it`; where there are none, give those of `node:test` or of an
 * import
 */
export function describePaymentStore(
  name: string,
  source: PaymentStoreSource,
  runner: Partial<TestRunner> = globals,
): void {
  const { describe, it } = runner;
  if (!describe || !it) throw new Error('describePaymentStore needs a test runner: give it { describe, it }.');
  describe(name, () => {
    for (const check of paymentStoreContract) it(check.name, () => check.run(source));
  });
}
