import assert from 'node:assert/strict';
import type { PaymentStore } from '../../store/payment-store.js';
import { at, type PaymentStoreCase } from './store-trial.js';

async function expectTime(store: PaymentStore, time: Date): Promise<void> {
  const now = await store.now();
  assert.equal(
    now.toISOString(),
    time.toISOString(),
    `now() gave ${now.toISOString()}, but the clock that create(clock) was called with shows ${time.toISOString()}. ` +
      'Give your store an option for where its time comes from, and pass this clock to it: in create and in another.',
  );
}

/** The store's time, by which every other case works. */
export const timeCases: readonly PaymentStoreCase[] = [
  {
    name: 'now() follows the clock that the store was given',
    async run(trial) {
      for (const ms of [0, 1, 86_400_000, -3_600_000]) {
        trial.moveTo(ms);
        for (const store of [trial.store, trial.second]) await expectTime(store, at(ms));
      }
    },
  },
];
