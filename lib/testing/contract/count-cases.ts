import type { StateCount, StoreCounts } from '../../store/payment-store.js';
import { at, type PaymentStoreCase } from './store-trial.js';
import { same } from './same.js';

const NONE: StateCount = { count: 0, oldest: null };
const EMPTY: StoreCounts = {
  states: { charging: NONE, initiating: NONE, awaiting: NONE, authorizing: NONE, unknown: NONE, review: NONE },
  waitingEvents: 0,
  openDeliveries: 0,
  parkedDeliveries: 0,
  orphanedDeliveries: 0,
};

/** What health checks and statistics see. */
export const countCases: readonly PaymentStoreCase[] = [
  {
    name: 'counts of an account without payments are all zero',
    async run(trial) {
      same(await trial.store.counts(trial.account), EMPTY);
    },
  },
  {
    name: 'counts shows how many payments are in each state they pass through, and since when the oldest',
    async run(trial) {
      const states = ['charging', 'initiating', 'awaiting', 'authorizing', 'unknown', 'review'] as const;
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
      });
      same(await trial.store.counts(`${trial.account}-other`), EMPTY);
    },
  },
  {
    name: 'counts follows a payment from state to state',
    async run(trial) {
      const record = await trial.insert({ state: 'charging' });
      const unknown = await trial.replace(record, { state: 'unknown', updatedAt: at(4) });
      same((await trial.store.counts(trial.account)).states, {
        ...EMPTY.states,
        unknown: { count: 1, oldest: at(4) },
      });
      await trial.replace(unknown, { state: 'failed', updatedAt: at(5) });
      same(await trial.store.counts(trial.account), EMPTY);
    },
  },
  {
    name: 'counts shows events that wait, and deliveries that are open or parked',
    async run(trial) {
      const numbers = async () => {
        const { waitingEvents, openDeliveries, parkedDeliveries } = await trial.store.counts(trial.account);
        return [waitingEvents, openDeliveries, parkedDeliveries];
      };
      const one = await trial.handler('payment.failed');
      await trial.handler('payment.failed');
      await trial.publish(await trial.insert(), 'expired', at(1));
      const { event } = await trial.publish(await trial.insert(), 'failed', at(1));
      same(await numbers(), [2, 0, 0]);
      await trial.fanOut();
      same(await numbers(), [1, 2, 0]);
      await trial.lease(one, { leaseMs: 10 });
      same(await numbers(), [1, 2, 0]);
      trial.moveTo(10);
      await trial.fail(one, { parked: true });
      same(await numbers(), [1, 1, 1]);
      await trial.store.replay(trial.account, one, event.eventId);
      same(await numbers(), [1, 2, 0]);
      await trial.drain(one);
      same(await numbers(), [1, 1, 0]);
    },
  },
];
