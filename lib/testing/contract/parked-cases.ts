import assert from 'node:assert/strict';
import { at, eventIds, type PaymentStoreCase, RACERS } from './store-trial.js';
import { same } from './same.js';
import { publishTwice } from './version-order-cases.js';

const BOTH = ['payment.unknown', 'payment.succeeded'] as const;

/** Deliveries that were given up, until someone replays them. */
export const parkedCases: readonly PaymentStoreCase[] = [
  {
    name: 'a parked delivery is listed as it was postponed, and not tried again',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      await trial.publish(await trial.insert(), 'failed', at(1));
      trial.moveTo(10);
      const delivery = await trial.fail(handler, { attempts: 15, error: 'E', parked: true, retryInMs: 5 });
      trial.moveTo(1_000_000);
      same(await trial.take(handler), []);
      same(await trial.second.listParked(trial.account, 10), [
        { ...delivery, attempts: 15, error: 'E', parked: true, dueAt: at(15) },
      ]);
    },
  },
  {
    name: 'listParked gives the oldest event first, up to the limit, of this account only',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const park = async (ms: number): Promise<string> => {
        const { event } = await trial.publish(await trial.insert(), 'failed', at(ms));
        await trial.fail(handler, { parked: true });
        return event.eventId;
      };
      const [third, first, second] = [await park(30), await park(10), await park(20)];
      await trial.publish(await trial.insert(), 'failed', at(1));
      await trial.fanOut();
      const list = async (limit: number) => eventIds(await trial.store.listParked(trial.account, limit));
      same(await list(10), [first, second, third]);
      same(await list(2), [first, second]);
      same(await trial.store.listParked(`${trial.account}-other`, 10), []);
    },
  },
  {
    name: 'replay makes a parked delivery due now, with its tries forgotten',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const { event } = await trial.publish(await trial.insert(), 'failed', at(1));
      const delivery = await trial.fail(handler, { attempts: 15, parked: true, retryInMs: 9_000 });
      trial.moveTo(50);
      assert.equal(await trial.store.replay(trial.account, handler, event.eventId), true);
      same(await trial.store.listParked(trial.account, 10), []);
      same(await trial.lease(handler, { leaseMs: 10, store: trial.second }), [{ ...delivery, dueAt: at(60) }]);
    },
  },
  {
    name: 'once a replayed delivery is acknowledged, a later one that is leased stays leased',
    async run(trial) {
      const handler = await trial.handler(...BOTH);
      const [first, second] = await publishTwice(trial);
      await trial.fail(handler, { parked: true });
      same(eventIds(await trial.lease(handler, { leaseMs: 1_000 })), [second]);
      assert.equal(await trial.store.replay(trial.account, handler, first), true);
      same(eventIds(await trial.lease(handler)), [first]);
      await trial.store.acknowledge(trial.account, handler, first);
      trial.moveTo(999);
      same(await trial.take(handler), []);
      trial.moveTo(1_000);
      same(eventIds(await trial.lease(handler)), [second]);
    },
  },
  {
    name: 'once a replayed delivery is acknowledged, a later one that failed still waits for its next try',
    async run(trial) {
      const handler = await trial.handler(...BOTH);
      const [first, second] = await publishTwice(trial);
      await trial.fail(handler, { parked: true });
      same((await trial.fail(handler, { retryInMs: 5_000 })).event.eventId, second);
      assert.equal(await trial.store.replay(trial.account, handler, first), true);
      same(eventIds(await trial.lease(handler)), [first]);
      await trial.store.acknowledge(trial.account, handler, first);
      trial.moveTo(4_999);
      same(await trial.take(handler), []);
      trial.moveTo(5_000);
      same(eventIds(await trial.lease(handler)), [second]);
    },
  },
  {
    name: 'many parked deliveries keep no other one from being leased',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      for (let parked = 0; parked < 3 * RACERS; parked += 1) {
        await trial.publish(await trial.insert(), 'failed', at(1));
        await trial.fail(handler, { parked: true, retryInMs: 1 });
      }
      trial.moveTo(10);
      const { event } = await trial.publish(await trial.insert(), 'failed', at(9));
      same(eventIds(await trial.take(handler, { limit: 1 })), [event.eventId]);
    },
  },
  {
    name: 'replay says no where no such delivery is parked, and changes nothing',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const { event } = await trial.publish(await trial.insert(), 'failed', at(1));
      const replay = (account: string, id: string, eventId: string) => trial.store.replay(account, id, eventId);
      await trial.take(handler, { leaseMs: 100 });
      assert.equal(await replay(trial.account, handler, event.eventId), false);
      trial.moveTo(99);
      same(await trial.lease(handler), []);
      trial.moveTo(100);
      await trial.fail(handler, { parked: true });
      assert.equal(await replay(trial.account, 'none', event.eventId), false);
      assert.equal(await replay(trial.account, handler, 'none:2'), false);
      assert.equal(await replay(`${trial.account}-other`, handler, event.eventId), false);
      assert.equal(await replay(trial.account, handler, event.eventId), true);
      assert.equal(await replay(trial.account, handler, event.eventId), false);
    },
  },
  {
    name: 'a parked delivery can be acknowledged',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const { event } = await trial.publish(await trial.insert(), 'failed', at(1));
      await trial.fail(handler, { parked: true });
      await trial.store.acknowledge(trial.account, handler, event.eventId);
      same(await trial.store.listParked(trial.account, 10), []);
      assert.equal(await trial.store.replay(trial.account, handler, event.eventId), false);
    },
  },
];
