import assert from 'node:assert/strict';
import { at, eventIds, type PaymentStoreCase, same, unique } from '../store-trial.js';

const BOTH = ['payment.unknown', 'payment.succeeded'] as const;

/** The events of a payment reach a handler in the order of their versions. */
export const orderCases: readonly PaymentStoreCase[] = [
  {
    name: 'a later version waits until the earlier one is acknowledged',
    async run(trial) {
      const { handler, first, second } = await trial.twoVersions();
      same(eventIds(await trial.take(handler, { leaseMs: 10 })), [first]);
      same(await trial.take(handler), []);
      trial.moveTo(10);
      same(eventIds(await trial.lease(handler, { leaseMs: 10 })), [first]);
      await trial.acknowledge(handler, first);
      same(eventIds(await trial.lease(handler, { store: trial.second })), [second]);
    },
  },
  {
    name: 'events come in the order of their versions, too, where the host chose the conversationId',
    async run(trial) {
      const handler = await trial.handler(...BOTH);
      const conversationId = unique('sipariş:17');
      const opened = await trial.insert({ conversationId, version: 8, hostIdNonce: '09382017465f' });
      const unknown = await trial.publish(opened, 'unknown', at(1));
      await trial.publish(unknown.record, 'succeeded', at(2));
      const [first, second] = ['9-09382017465f', '10-09382017465f'].map((end) => `${conversationId}:${end}`);
      same(eventIds(await trial.take(handler)), [first]);
      await trial.fanOut({ store: trial.second });
      same(await trial.lease(handler, { types: ['payment.succeeded'] }), []);
      await trial.acknowledge(handler, first!);
      same(eventIds(await trial.lease(handler, { store: trial.second })), [second]);
      await trial.acknowledge(handler, second!);
      same(await trial.take(handler), []);
    },
  },
  {
    name: 'a later version waits while the earlier one is postponed',
    async run(trial) {
      const { handler, first, second } = await trial.twoVersions();
      await trial.fail(handler, { retryInMs: 5_000 });
      trial.moveTo(4_999);
      same(await trial.lease(handler), []);
      trial.moveTo(5_000);
      same(eventIds(await trial.lease(handler)), [first]);
      await trial.acknowledge(handler, first);
      same(eventIds(await trial.lease(handler)), [second]);
    },
  },
  {
    name: 'a later version waits for an earlier one of a type that is not asked for',
    async run(trial) {
      const { handler, first, second } = await trial.twoVersions();
      await trial.fanOut();
      same(await trial.lease(handler, { types: ['payment.succeeded'] }), []);
      await trial.acknowledge(handler, first);
      same(eventIds(await trial.lease(handler, { types: ['payment.succeeded'] })), [second]);
    },
  },
  {
    name: 'a later version cannot be leased before the earlier one is fanned out',
    async run(trial) {
      const { handler, first, second } = await trial.twoVersions();
      same(await trial.lease(handler), []);
      await trial.fanOut({ limit: 1 });
      same(eventIds(await trial.lease(handler)), [first]);
      await trial.acknowledge(handler, first);
      same(eventIds(await trial.lease(handler)), [second]);
    },
  },
  {
    name: 'an earlier version whose type is announced late still comes before a later one that is open',
    async run(trial) {
      const handler = await trial.handler('payment.succeeded');
      const [first, second] = await trial.publishTwice();
      assert.equal(await trial.fanOut(), 1);
      await trial.announce(handler, 'payment.unknown');
      assert.equal(await trial.fanOut(), 1);
      same(await trial.drain(handler), [first, second]);
    },
  },
  {
    name: 'deliveries are ordered by version as a number, 10 after 9, even when the host’s clock was set back',
    async run(trial) {
      const handler = await trial.handler('payment.unknown');
      let record = await trial.insert({ version: 8 });
      for (let ms = 5; ms > 0; ms -= 1) ({ record } = await trial.publish(record, 'unknown', at(ms)));
      for (const version of [9, 10, 11, 12, 13]) {
        const [delivery, ...more] = await trial.take(handler);
        same([delivery?.event.payment.version, more.length], [version, 0]);
        await trial.acknowledge(handler, delivery!.event.eventId);
      }
    },
  },
  {
    name: 'a delivery delays neither other payments nor other handlers',
    async run(trial) {
      const slow = await trial.handler(...BOTH);
      const quick = await trial.handler(...BOTH);
      const [first, second] = await trial.publishTwice();
      await trial.take(slow);
      same(await trial.drain(quick), [first, second]);
      const [other] = await trial.publishTwice();
      same(eventIds(await trial.take(slow)), [other]);
    },
  },
  {
    name: 'a limit counts deliveries that can be leased, not those that wait for an earlier version',
    async run(trial) {
      const { handler, first } = await trial.twoVersions();
      same(eventIds(await trial.take(handler)), [first]);
      trial.moveTo(1);
      const [other] = await trial.publishTwice();
      same(eventIds(await trial.take(handler, { limit: 1 })), [other]);
    },
  },
  {
    name: 'a parked delivery delays no later version',
    async run(trial) {
      const { handler, first, second } = await trial.twoVersions();
      const delivery = await trial.fail(handler, { parked: true });
      assert.equal(delivery.event.eventId, first);
      same(await trial.drain(handler), [second]);
    },
  },
  {
    name: 'a replayed delivery comes before a later version that is still open',
    async run(trial) {
      const { handler, first, second } = await trial.twoVersions();
      await trial.fail(handler, { parked: true });
      assert.equal(await trial.replay(handler, first), true);
      same(await trial.drain(handler), [first, second]);
    },
  },
];
