import assert from 'node:assert/strict';
import { at, eventIds, type PaymentStoreCase, type StoreTrial, unique } from './store-trial.js';
import { same } from './same.js';

const BOTH = ['payment.unknown', 'payment.succeeded'] as const;

/** A payment that became `unknown` and then `succeeded`. @returns the ids of both events */
export async function publishTwice(trial: StoreTrial): Promise<[string, string]> {
  const unknown = await trial.publish(await trial.insert(), 'unknown', at(1));
  const succeeded = await trial.publish(unknown.record, 'succeeded', at(2));
  return [unknown.event.eventId, succeeded.event.eventId];
}

/** One payment's events reach a handler in the order of their versions. */
export const versionOrderCases: readonly PaymentStoreCase[] = [
  {
    name: 'a later version waits until the earlier one is acknowledged',
    async run(trial) {
      const handler = await trial.handler(...BOTH);
      const [first, second] = await publishTwice(trial);
      same(eventIds(await trial.take(handler, { leaseMs: 10 })), [first]);
      same(await trial.take(handler), []);
      trial.moveTo(10);
      same(eventIds(await trial.lease(handler, { leaseMs: 10 })), [first]);
      await trial.store.acknowledge(trial.account, handler, first);
      same(eventIds(await trial.lease(handler, { store: trial.second })), [second]);
    },
  },
  {
    name: 'where the host chose the conversationId, its events come in version order, too, each by its own id',
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
      await trial.store.acknowledge(trial.account, handler, first!);
      same(eventIds(await trial.lease(handler, { store: trial.second })), [second]);
      await trial.store.acknowledge(trial.account, handler, second!);
      same(await trial.take(handler), []);
    },
  },
  {
    name: 'a later version waits while the earlier one is put off',
    async run(trial) {
      const handler = await trial.handler(...BOTH);
      const [first, second] = await publishTwice(trial);
      await trial.fail(handler, { retryInMs: 5_000 });
      trial.moveTo(4_999);
      same(await trial.lease(handler), []);
      trial.moveTo(5_000);
      same(eventIds(await trial.lease(handler)), [first]);
      await trial.store.acknowledge(trial.account, handler, first);
      same(eventIds(await trial.lease(handler)), [second]);
    },
  },
  {
    name: 'a later version waits for an earlier one of a type that is not asked for',
    async run(trial) {
      const handler = await trial.handler(...BOTH);
      const [first, second] = await publishTwice(trial);
      await trial.fanOut();
      same(await trial.lease(handler, { types: ['payment.succeeded'] }), []);
      await trial.store.acknowledge(trial.account, handler, first);
      same(eventIds(await trial.lease(handler, { types: ['payment.succeeded'] })), [second]);
    },
  },
  {
    name: 'a later version cannot be leased before the earlier one is fanned out',
    async run(trial) {
      const handler = await trial.handler(...BOTH);
      const [first, second] = await publishTwice(trial);
      same(await trial.lease(handler), []);
      await trial.fanOut({ limit: 1 });
      same(eventIds(await trial.lease(handler)), [first]);
      await trial.store.acknowledge(trial.account, handler, first);
      same(eventIds(await trial.lease(handler)), [second]);
    },
  },
  {
    name: 'an earlier version whose type is announced late still comes before a later one that waits its turn',
    async run(trial) {
      const handler = await trial.handler('payment.succeeded');
      const [first, second] = await publishTwice(trial);
      assert.equal(await trial.fanOut(), 1);
      await trial.announce(handler, 'payment.unknown');
      assert.equal(await trial.fanOut(), 1);
      same(await trial.drain(handler), [first, second]);
    },
  },
  {
    name: 'the order goes by version, the tenth after the ninth, even where the host’s clock went back',
    async run(trial) {
      const handler = await trial.handler('payment.unknown');
      let record = await trial.insert({ version: 8 });
      for (let ms = 5; ms > 0; ms -= 1) ({ record } = await trial.publish(record, 'unknown', at(ms)));
      for (const version of [9, 10, 11, 12, 13]) {
        const [delivery, ...more] = await trial.take(handler);
        same([delivery?.event.payment.version, more.length], [version, 0]);
        await trial.store.acknowledge(trial.account, handler, delivery!.event.eventId);
      }
    },
  },
  {
    name: 'neither another payment nor another handler waits for a delivery',
    async run(trial) {
      const slow = await trial.handler(...BOTH);
      const quick = await trial.handler(...BOTH);
      const [first, second] = await publishTwice(trial);
      await trial.take(slow);
      same(await trial.drain(quick), [first, second]);
      const [other] = await publishTwice(trial);
      same(eventIds(await trial.take(slow)), [other]);
    },
  },
  {
    name: 'a limit counts deliveries that can be leased, not those that wait for an earlier version',
    async run(trial) {
      const handler = await trial.handler(...BOTH);
      const [first] = await publishTwice(trial);
      same(eventIds(await trial.take(handler)), [first]);
      trial.moveTo(1);
      const [other] = await publishTwice(trial);
      same(eventIds(await trial.take(handler, { limit: 1 })), [other]);
    },
  },
  {
    name: 'a parked delivery holds up no later version',
    async run(trial) {
      const handler = await trial.handler(...BOTH);
      const [first, second] = await publishTwice(trial);
      const delivery = await trial.fail(handler, { parked: true });
      assert.equal(delivery.event.eventId, first);
      same(await trial.drain(handler), [second]);
    },
  },
  {
    name: 'a replayed delivery comes before a later version that is still open',
    async run(trial) {
      const handler = await trial.handler(...BOTH);
      const [first, second] = await publishTwice(trial);
      await trial.fail(handler, { parked: true });
      assert.equal(await trial.store.replay(trial.account, handler, first), true);
      same(await trial.drain(handler), [first, second]);
    },
  },
];
