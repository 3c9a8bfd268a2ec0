import assert from 'node:assert/strict';
import { at, eventIds, type PaymentStoreCase, unique } from './store-trial.js';
import { same } from './same.js';

/** Leasing deliveries to a handler. */
export const deliveryCases: readonly PaymentStoreCase[] = [
  {
    name: 'an event comes as it was written, once to each handler of its type',
    async run(trial) {
      const one = await trial.handler('payment.failed', 'payment.succeeded');
      const two = await trial.handler('payment.succeeded');
      const none = await trial.handler('payment.failed');
      const full = trial.fullRecord({ state: 'authorizing' });
      assert.equal(await trial.store.insert(full), null);
      const { event } = await trial.publish(full, 'succeeded', at(7));
      await trial.fanOut();
      trial.moveTo(10);
      const delivery = { account: trial.account, event, attempts: 0, parked: false, error: null, dueAt: at(99) };
      same(await trial.lease(one, { leaseMs: 89, store: trial.second }), [{ ...delivery, handlerId: one }]);
      same(await trial.lease(two, { leaseMs: 89 }), [{ ...delivery, handlerId: two }]);
      same(await trial.lease(none), []);
    },
  },
  {
    name: 'an event that a new payment brings with it comes too',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const record = trial.record({ state: 'failed' });
      assert.equal(await trial.store.insert(record, trial.event(record, 'failed')), null);
      same(eventIds(await trial.take(handler)), [`${record.conversationId}:1`]);
    },
  },
  {
    name: 'leaseDeliveries gives a handler nothing that is for another handler or another account',
    async run(trial) {
      const one = await trial.handler('payment.failed');
      const two = await trial.handler('payment.failed');
      await trial.publish(await trial.insert(), 'failed', at(1));
      await trial.fanOut();
      same(await trial.lease('none'), []);
      const lease = { handlerId: one, types: ['payment.failed'], lease: 'L', leaseMs: 1_000, limit: 10 } as const;
      same(await trial.store.leaseDeliveries({ ...lease, account: `${trial.account}-other` }), []);
      const found = await trial.lease(two);
      same(
        found.map(({ handlerId }) => handlerId),
        [two],
      );
    },
  },
  {
    name: 'leaseDeliveries gives only the types that it is asked for, whatever else the handler id was announced with',
    async run(trial) {
      const handler = await trial.handler('payment.failed', 'payment.succeeded');
      const failed: string[] = [];
      for (let ms = 1; ms <= 5; ms += 1) {
        failed.push((await trial.publish(await trial.insert(), 'failed', at(ms))).event.eventId);
      }
      await trial.fanOut();
      trial.moveTo(10);
      const { event } = await trial.publish(await trial.insert(), 'succeeded', at(10));
      await trial.fanOut();
      same(await trial.lease(handler, { types: [] }), []);
      same(await trial.lease(handler, { types: ['payment.review'] }), []);
      same(eventIds(await trial.lease(handler, { types: ['payment.succeeded'], limit: 1 })), [event.eventId]);
      same(await trial.lease(handler, { types: ['payment.succeeded'] }), []);
      same(eventIds(await trial.lease(handler, { types: ['payment.failed'] })).sort(), failed.sort());
    },
  },
  {
    name: 'leaseDeliveries gives what has been due the longest first, up to the limit',
    async run(trial) {
      const handler = await trial.handler('payment.failed', 'payment.unknown');
      const publishAt = async (ms: number, state: 'failed' | 'unknown', occurred: number): Promise<string> => {
        trial.moveTo(ms);
        const { event } = await trial.publish(await trial.insert(), state, at(occurred));
        await trial.fanOut();
        return event.eventId;
      };
      const postponed = await publishAt(0, 'failed', 1);
      await trial.fail(handler, { retryInMs: 30 });
      const first = await publishAt(10, 'unknown', 90);
      const second = await publishAt(20, 'failed', 80);
      const last = await publishAt(40, 'failed', 5);
      trial.moveTo(50);
      same(eventIds(await trial.lease(handler, { limit: 2 })), [first, second]);
      same(eventIds(await trial.lease(handler)), [postponed, last]);
    },
  },
  {
    name: 'a lease keeps its delivery from everyone until it runs out, by the store’s time',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const { event } = await trial.publish(await trial.insert(), 'failed', at(1));
      trial.moveTo(10);
      same(eventIds(await trial.take(handler, { leaseMs: 90 })), [event.eventId]);
      trial.moveTo(99);
      same(await trial.take(handler, { store: trial.second }), []);
      trial.moveTo(100);
      same(eventIds(await trial.lease(handler, { store: trial.second })), [event.eventId]);
    },
  },
  {
    name: 'of many that lease at once, nobody gets a delivery that another has',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const records = await Promise.all(Array.from({ length: 40 }, () => trial.insert()));
      for (const [index, record] of records.entries()) await trial.publish(record, 'failed', at(index));
      await trial.fanOut();
      const found: string[] = [];
      while (found.length < records.length) {
        const batches = await trial.race((store) => trial.lease(handler, { limit: 6, store }), 8);
        const ids = batches.flatMap(eventIds);
        assert.ok(batches.every((batch) => batch.length <= 6));
        assert.ok(ids.length > 0, 'what is due and free must be leased in the end');
        found.push(...ids);
      }
      same(found.sort(), records.map((record) => `${record.conversationId}:2`).sort());
    },
  },
  {
    name: 'an acknowledged delivery is gone for that handler alone, once and for all',
    async run(trial) {
      const one = await trial.handler('payment.failed');
      const two = await trial.handler('payment.failed');
      const { event } = await trial.publish(await trial.insert(), 'failed', at(1));
      await trial.take(one);
      await trial.store.acknowledge(`${trial.account}-other`, two, event.eventId);
      await trial.store.acknowledge(trial.account, one, event.eventId);
      await trial.store.acknowledge(trial.account, one, event.eventId);
      trial.moveTo(1_000_000);
      await trial.announce(one, 'payment.failed');
      same(await trial.take(one), []);
      same(eventIds(await trial.take(two)), [event.eventId]);
    },
  },
  {
    name: 'handler ids that differ in case or spaces are different handlers',
    async run(trial) {
      const ids = ['Sipariş.ödendi', 'sipariş.ödendi', 'Sipariş.ödendi ', unique('"\'\\ ; --:{}')];
      for (const id of ids) await trial.announce(id, 'payment.failed');
      const { event } = await trial.publish(await trial.insert(), 'failed', at(1));
      for (const id of ids) same(await trial.drain(id), [event.eventId]);
    },
  },
];
