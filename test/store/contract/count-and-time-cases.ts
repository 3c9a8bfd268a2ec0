import type { StateCount, StoreCounts } from '../../../lib/store/payment-store.js';
import { at, type PaymentStoreCase, same } from './store-trial.js';

/** The time of the store, on which every other case depends. */
export const timeCases: readonly PaymentStoreCase[] = [
  {
    name: 'now() follows the clock that the store was given',
    async run(trial) {
      for (const ms of [0, 1, 86_400_000, -3_600_000]) {
        trial.moveTo(ms);
        for (const store of [trial.store, trial.second]) same(await store.now(), at(ms));
      }
    },
  },
];

const NONE: StateCount = { count: 0, oldest: null };
const EMPTY: StoreCounts = {
  states: {
    charging: NONE,
    initiating: NONE,
    awaiting: NONE,
    authorizing: NONE,
    pending: NONE,
    unknown: NONE,
    review: NONE,
    refunding: NONE,
    succeeded: NONE,
    failed: NONE,
    expired: NONE,
  },
  waitingEvents: 0,
  openDeliveries: 0,
  parkedDeliveries: 0,
  orphanedDeliveries: 0,
};

/** The counts of an account. */
export const countCases: readonly PaymentStoreCase[] = [
  {
    name: 'counts shows how many payments or refunds are in each unsettled state, and the oldest updatedAt of each',
    async run(trial) {
      const states = [
        'charging',
        'initiating',
        'awaiting',
        'authorizing',
        'unknown',
        'review',
        'refunding',
        'pending',
      ] as const;
      for (const [index, state] of states.entries()) await trial.insert({ state, updatedAt: at(index) });
      await trial.insert({ state: 'unknown', updatedAt: at(3), createdAt: at(-5) });
      await trial.insert({ state: 'unknown', updatedAt: at(9) });
      for (const state of ['succeeded', 'failed', 'expired'] as const) await trial.insert({ state });
      const one = (ms: number): StateCount => ({ count: 1, oldest: at(ms) });
      same((await trial.second.counts(trial.account)).states, {
        charging: one(0),
        initiating: one(1),
        awaiting: one(2),
        authorizing: one(3),
        unknown: { count: 3, oldest: at(3) },
        review: one(5),
        refunding: one(6),
        pending: one(7),
      });
      same(await trial.store.counts(`${trial.account}-other`), EMPTY);
    },
  },
  {
    name: 'counts follows a payment from state to state',
    async run(trial) {
      const record = await trial.insert({ state: 'charging' });
      const unknown = await trial.replace(record, { state: 'unknown', updatedAt: at(4) });
      same((await trial.counts()).states, {
        ...EMPTY.states,
        unknown: { count: 1, oldest: at(4) },
      });
      await trial.replace(unknown, { state: 'failed', updatedAt: at(5) });
      same(await trial.counts(), EMPTY);
    },
  },
  {
    name: 'counts shows waiting events, open deliveries and parked ones',
    async run(trial) {
      const numbers = async () => {
        const { waitingEvents, openDeliveries, parkedDeliveries } = await trial.counts();
        return [waitingEvents, openDeliveries, parkedDeliveries];
      };
      const one = await trial.handler('payment.failed');
      await trial.handler('payment.failed');
      await trial.publishNew('expired');
      const eventId = await trial.publishNew('failed');
      same(await numbers(), [2, 0, 0]);
      await trial.fanOut();
      same(await numbers(), [1, 2, 0]);
      await trial.lease(one, { leaseMs: 10 });
      same(await numbers(), [1, 2, 0]);
      trial.moveTo(10);
      await trial.fail(one, { parked: true });
      same(await numbers(), [1, 1, 1]);
      await trial.replay(one, eventId);
      same(await numbers(), [1, 2, 0]);
      await trial.drain(one);
      same(await numbers(), [1, 1, 0]);
    },
  },
];
