import type { PaymentStore } from '../store/payment-store.js';
import { deliveryCases } from './contract/delivery-cases.js';
import { dueCases } from './contract/due-cases.js';
import { purgeCases } from './contract/purge-cases.js';
import { recordCases } from './contract/record-cases.js';
import { replaceCases } from './contract/replace-cases.js';
import { StoreTrial } from './contract/store-trial.js';

/** Where the suite gets the store that it tests. */
export interface PaymentStoreSource {
  /** An open store. It may hold other data already: each case uses accounts of its own. */
  create(): Promise<PaymentStore>;
  /** A second store on the same data, open: races are then run between the two. */
  another?(store: PaymentStore): Promise<PaymentStore>;
  /** Called after each case for each store that was made for it. By default they are closed. */
  destroy?(store: PaymentStore): Promise<void>;
}

/** One thing that every store must do. */
export interface PaymentStoreCheck {
  readonly name: string;
  /** Rejects with what the store does wrong. */
  run(source: PaymentStoreSource): Promise<void>;
}

/** What a test runner offers: Jest, Vitest, Mocha or node:test. */
export interface TestRunner {
  describe(name: string, define: () => void): unknown;
  it(name: string, run: () => Promise<void>): unknown;
}

/** What a {@link PaymentStore} must do, case by case, for a runner of your own. */
export const paymentStoreContract: readonly PaymentStoreCheck[] = [
  ...recordCases,
  ...replaceCases,
  ...dueCases,
  ...deliveryCases,
  ...purgeCases,
].map(({ name, run }) => ({
  name,
  async run(source) {
    const store = await source.create();
    const second = await source.another?.(store);
    try {
      await run(new StoreTrial(store, second ?? store));
    } finally {
      for (const made of second ? [second, store] : [store]) await (source.destroy?.(made) ?? made.close());
    }
  },
}));

const globals: object = globalThis;

/**
 * Tests a store of your own, in its test file:
 *
 * ```ts
 * describePaymentStore('MyStore', { create: async () => new MyStore() });
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
