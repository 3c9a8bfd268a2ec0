import assert from 'node:assert/strict';
import type { Delivery } from '../../store/payment-store.js';
import { at, eventIds, type PaymentStoreCase, RACERS, type StoreTrial, unique } from './store-trial.js';
import { same } from './same.js';

/** A payment that became `unknown` and then `succeeded`. @returns the ids of both events */
async function publishTwice(trial: StoreTrial, first = at(1), second = at(2)): Promise<[string, string]> {
  const unknown = await trial.publish(await trial.insert(), 'unknown', first);
  const succeeded = await trial.publish(unknown.record, 'succeeded', second);
  return [unknown.event.eventId, succeeded.event.eventId];
}

const BOTH = ['payment.unknown', 'payment.succeeded'] as const;

/** Events on their way to handlers. */
export const deliveryCases: readonly PaymentStoreCase[] = [
  {
    name: 'events: one delivery to each announced handler of the type, as it was written',
    async run(trial) {
      const one = await trial.handler('payment.failed', 'payment.succeeded');
      const two = await trial.handler('payment.succeeded');
      const none = await trial.handler('payment.failed');
      const full = trial.fullRecord({ state: 'authorizing' });
      assert.equal(await trial.store.insert(full), null);
      const { event } = await trial.publish(full, 'succeeded', at(7));
      const leased = await trial.lease([one, two, none], at(7), { until: at(99), store: trial.second });
      leased.sort((a, b) => [one, two].indexOf(a.handlerId) - [one, two].indexOf(b.handlerId));
      const delivery = { account: trial.account, event, attempts: 0, parked: false, error: null, dueAt: at(99) };
      same(leased, [
        { ...delivery, handlerId: one },
        { ...delivery, handlerId: two },
      ]);
    },
  },
  {
    name: 'events: an event of a new payment is delivered too',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const record = trial.record({ state: 'failed' });
      assert.equal(await trial.store.insert(record, trial.event(record, 'failed')), null);
      same(eventIds(await trial.lease([handler], at(0))), [`${record.conversationId}:1`]);
    },
  },
  {
    name: 'leaseDeliveries: to these handlers only, of this account only',
    async run(trial) {
      const one = await trial.handler('payment.failed');
      const two = await trial.handler('payment.failed');
      await trial.publish(await trial.insert(), 'failed', at(1));
      const other = { account: `${trial.account}-other`, now: at(2), until: at(3), limit: 10, handlerIds: [one, two] };
      same(await trial.store.leaseDeliveries(other), []);
      same(await trial.lease([], at(2)), []);
      const leased = await trial.lease([two], at(2));
      same(
        leased.map(({ handlerId }) => handlerId),
        [two],
      );
    },
  },
  {
    name: 'leaseDeliveries: oldest event first, up to the limit, over all handlers',
    async run(trial) {
      const one = await trial.handler('payment.failed');
      const two = await trial.handler('payment.unknown');
      const records = await Promise.all(Array.from({ length: 4 }, () => trial.insert()));
      const [d, b, a, c] = [
        await trial.publish(records[0]!, 'failed', at(40)),
        await trial.publish(records[1]!, 'unknown', at(20)),
        await trial.publish(records[2]!, 'failed', at(10)),
        await trial.publish(records[3]!, 'unknown', at(30)),
      ].map(({ event }) => event.eventId);
      same(eventIds(await trial.lease([one, two], at(50), { limit: 3 })), [a, b, c]);
      same(eventIds(await trial.lease([one, two], at(50), { limit: 3 })), [d]);
    },
  },
  {
    name: 'leaseDeliveries: not again before the lease has run out',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const { event } = await trial.publish(await trial.insert(), 'failed', at(1));
      same(eventIds(await trial.lease([handler], at(1), { until: at(100) })), [event.eventId]);
      same(await trial.lease([handler], at(99), { store: trial.second }), []);
      same(eventIds(await trial.lease([handler], at(100), { store: trial.second })), [event.eventId]);
    },
  },
  {
    name: 'leaseDeliveries: nobody gets what another has leased',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const records = await Promise.all(Array.from({ length: 40 }, () => trial.insert()));
      for (const [index, record] of records.entries()) await trial.publish(record, 'failed', at(index));
      const leased: string[] = [];
      while (leased.length < records.length) {
        const batches = await trial.race((store) => trial.lease([handler], at(100), { limit: 6, store }), 8);
        const found = batches.flatMap(eventIds);
        assert.ok(batches.every((batch) => batch.length <= 6));
        assert.ok(found.length > 0, 'what is due and free must be leased in the end');
        leased.push(...found);
      }
      same(leased.sort(), records.map((record) => `${record.conversationId}:2`).sort());
    },
  },
  {
    name: 'order: a later version waits until the earlier one is acknowledged',
    async run(trial) {
      const handler = await trial.handler(...BOTH);
      const [first, second] = await publishTwice(trial);
      same(eventIds(await trial.lease([handler], at(10), { until: at(20) })), [first]);
      same(await trial.lease([handler], at(10)), []);
      same(eventIds(await trial.lease([handler], at(20), { until: at(30) })), [first]);
      await trial.store.acknowledge(trial.account, handler, first);
      same(eventIds(await trial.lease([handler], at(20))), [second]);
    },
  },
  {
    name: 'order: a later version waits while the earlier one is put off',
    async run(trial) {
      const handler = await trial.handler(...BOTH);
      const [first, second] = await publishTwice(trial);
      const [delivery] = await trial.lease([handler], at(10));
      await trial.store.postpone({ ...delivery!, attempts: 1, error: 'Error: no', dueAt: at(5_000) });
      same(await trial.lease([handler], at(4_999)), []);
      same(eventIds(await trial.lease([handler], at(5_000))), [first]);
      await trial.store.acknowledge(trial.account, handler, first);
      same(eventIds(await trial.lease([handler], at(5_000))), [second]);
    },
  },
  {
    name: 'order: goes by version, tenth after ninth, even where the clock went back',
    async run(trial) {
      const handler = await trial.handler('payment.unknown');
      let record = await trial.insert({ version: 8 });
      for (let ms = 5; ms > 0; ms -= 1) ({ record } = await trial.publish(record, 'unknown', at(ms)));
      for (const version of [9, 10, 11, 12, 13]) {
        const [delivery, ...more] = await trial.lease([handler], at(100));
        same([delivery?.event.payment.version, more.length], [version, 0]);
        await trial.store.acknowledge(trial.account, handler, delivery!.event.eventId);
      }
    },
  },
  {
    name: 'order: neither another payment nor another handler waits',
    async run(trial) {
      const slow = await trial.handler(...BOTH);
      const quick = await trial.handler(...BOTH);
      const [first, second] = await publishTwice(trial);
      await trial.lease([slow, quick], at(5));
      await trial.store.acknowledge(trial.account, quick, first);
      same(eventIds(await trial.lease([slow, quick], at(5))), [second]);
      const [other] = await publishTwice(trial);
      same(eventIds(await trial.lease([slow], at(5))), [other]);
    },
  },
  {
    name: 'park: a parked delivery is not tried, and holds nothing up',
    async run(trial) {
      const handler = await trial.handler(...BOTH);
      const [first, second] = await publishTwice(trial);
      const [delivery] = await trial.lease([handler], at(10));
      await trial.store.postpone({ ...delivery!, attempts: 15, error: 'E', parked: true, dueAt: at(11) });
      same(eventIds(await trial.lease([handler], at(1_000_000))), [second]);
      const parked = { ...delivery, attempts: 15, error: 'E', parked: true, dueAt: at(11) };
      same(await trial.second.listParked(trial.account, 10), [parked]);
      assert.equal(delivery?.event.eventId, first);
    },
  },
  {
    name: 'listParked: oldest event first, up to the limit, of this account only',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const park = async (ms: number): Promise<string> => {
        const { event } = await trial.publish(await trial.insert(), 'failed', at(ms));
        const [delivery] = await trial.lease([handler], at(100));
        await trial.store.postpone({ ...delivery!, parked: true });
        return event.eventId;
      };
      const [third, first, second] = [await park(30), await park(10), await park(20)];
      await trial.publish(await trial.insert(), 'failed', at(1));
      const list = async (limit: number) => eventIds(await trial.store.listParked(trial.account, limit));
      same(await list(10), [first, second, third]);
      same(await list(2), [first, second]);
      same(await trial.store.listParked(`${trial.account}-other`, 10), []);
    },
  },
  {
    name: 'replay: makes a parked delivery due now, with its tries forgotten, before later versions',
    async run(trial) {
      const handler = await trial.handler(...BOTH);
      const [first] = await publishTwice(trial);
      const [delivery] = await trial.lease([handler], at(10));
      await trial.store.postpone({ ...delivery!, attempts: 15, error: 'E', parked: true, dueAt: at(9_000) });
      assert.equal(await trial.store.replay(trial.account, handler, first, at(50)), true);
      same(await trial.store.listParked(trial.account, 10), []);
      same(await trial.lease([handler], at(49)), []);
      same(await trial.lease([handler], at(50), { until: at(60) }), [
        { ...delivery, attempts: 0, error: null, parked: false, dueAt: at(60) },
      ]);
    },
  },
  {
    name: 'replay: false where no such delivery is parked, and nothing changes',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const { event } = await trial.publish(await trial.insert(), 'failed', at(1));
      const replay = (account: string, id: string, eventId: string) => trial.store.replay(account, id, eventId, at(0));
      await trial.lease([handler], at(1), { until: at(100) });
      assert.equal(await replay(trial.account, handler, event.eventId), false);
      same(await trial.lease([handler], at(99)), []);
      const [delivery] = await trial.lease([handler], at(100));
      await trial.store.postpone({ ...delivery!, parked: true });
      assert.equal(await replay(trial.account, 'none', event.eventId), false);
      assert.equal(await replay(trial.account, handler, 'none:2'), false);
      assert.equal(await replay(`${trial.account}-other`, handler, event.eventId), false);
      assert.equal(await replay(trial.account, handler, event.eventId), true);
      assert.equal(await replay(trial.account, handler, event.eventId), false);
    },
  },
  {
    name: 'acknowledge: gone for that handler alone, once and for all',
    async run(trial) {
      const one = await trial.handler('payment.failed');
      const two = await trial.handler('payment.failed');
      const { event } = await trial.publish(await trial.insert(), 'failed', at(1));
      const [delivery] = await trial.lease([one], at(1), { until: at(2) });
      await trial.store.acknowledge(`${trial.account}-other`, two, event.eventId);
      await trial.store.acknowledge(trial.account, one, event.eventId);
      await trial.store.acknowledge(trial.account, one, event.eventId);
      await trial.store.postpone({ ...delivery!, attempts: 1, parked: true });
      same(await trial.store.listParked(trial.account, 10), []);
      const left = await trial.lease([one, two], at(1_000));
      same(
        left.map(({ handlerId }) => handlerId),
        [two],
      );
    },
  },
  {
    name: 'acknowledge: a parked delivery too',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const { event } = await trial.publish(await trial.insert(), 'failed', at(1));
      const [delivery] = await trial.lease([handler], at(1));
      await trial.store.postpone({ ...delivery!, parked: true });
      await trial.store.acknowledge(trial.account, handler, event.eventId);
      same(await trial.store.listParked(trial.account, 10), []);
      assert.equal(await trial.store.replay(trial.account, handler, event.eventId, at(2)), false);
    },
  },
  {
    name: 'postpone: writes attempts, error and dueAt',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      await trial.publish(await trial.insert(), 'failed', at(1));
      const [delivery] = await trial.lease([handler], at(1));
      const failed: Delivery = {
        ...delivery!,
        attempts: 3,
        error: `Hata: “ş” \u0000 ${'x'.repeat(5_000)}`,
        dueAt: at(500),
      };
      await trial.second.postpone(failed);
      same(await trial.lease([handler], at(499)), []);
      same(await trial.lease([handler], at(500), { until: at(777) }), [{ ...failed, dueAt: at(777) }]);
      await trial.store.postpone({ ...failed, attempts: 0, error: null, dueAt: at(600) });
      const [givenBack] = await trial.lease([handler], at(600));
      same([givenBack?.attempts, givenBack?.error], [0, null]);
    },
  },
  {
    name: 'announceHandlers: an event that nobody takes waits for the first who does, and for nobody else',
    async run(trial) {
      await trial.handler('payment.failed');
      const [first, second] = await publishTwice(trial);
      const one = unique('One');
      const two = unique('Two');
      const late = unique('Late');
      await trial.second.announceHandlers(
        trial.account,
        [
          { id: one, types: [...BOTH] },
          { id: two, types: ['payment.succeeded'] },
        ],
        at(5),
      );
      await trial.store.announceHandlers(trial.account, [{ id: late, types: [...BOTH] }], at(6));
      same(await trial.lease([late], at(10)), []);
      same(eventIds(await trial.lease([two], at(10))), [second]);
      const [delivery, ...more] = await trial.lease([one], at(10), { until: at(20) });
      same([delivery?.event.eventId, more.length, delivery?.attempts], [first, 0, 0]);
      await trial.store.acknowledge(trial.account, one, first);
      same(eventIds(await trial.lease([one], at(10))), [second]);
    },
  },
  {
    name: 'announceHandlers: of another account gives and takes nothing',
    async run(trial) {
      const id = unique('Orders.failed');
      await trial.store.announceHandlers(`${trial.account}-other`, [{ id, types: ['payment.failed'] }], at(0));
      const { event } = await trial.publish(await trial.insert(), 'failed', at(1));
      same(await trial.lease([id], at(2)), []);
      await trial.store.announceHandlers(trial.account, [{ id, types: ['payment.failed'] }], at(3));
      same(eventIds(await trial.lease([id], at(3))), [event.eventId]);
    },
  },
  {
    name: 'announceHandlers: again is no second delivery',
    async run(trial) {
      const id = await trial.handler('payment.failed');
      const { event } = await trial.publish(await trial.insert(), 'failed', at(1));
      await trial.race((store) => store.announceHandlers(trial.account, [{ id, types: ['payment.failed'] }], at(2)), 4);
      same(eventIds(await trial.lease([id], at(3))), [event.eventId]);
      await trial.store.acknowledge(trial.account, id, event.eventId);
      await trial.store.announceHandlers(trial.account, [{ id, types: ['payment.failed'] }], at(4));
      same(await trial.lease([id], at(1_000_000)), []);
    },
  },
  {
    name: 'announceHandlers: replaces what the handler announced before; what it was given stays',
    async run(trial) {
      const id = await trial.handler('payment.failed');
      const before = await trial.publish(await trial.insert(), 'failed', at(1));
      await trial.store.announceHandlers(trial.account, [{ id, types: ['payment.expired'] }], at(2));
      const waits = await trial.publish(await trial.insert(), 'failed', at(3));
      const now = await trial.publish(await trial.insert(), 'expired', at(4));
      const leased = eventIds(await trial.lease([id], at(10)));
      same(leased, [before.event.eventId, now.event.eventId]);
      const other = await trial.handler('payment.failed');
      same(eventIds(await trial.lease([other], at(10))), [waits.event.eventId]);
    },
  },
  {
    name: 'announceHandlers: while events are being written, each is delivered exactly once',
    async run(trial) {
      const records = await Promise.all(Array.from({ length: RACERS }, () => trial.insert()));
      const id = unique('Orders.failed');
      await Promise.all([
        ...records.map((record, index) => trial.publish(record, 'failed', at(index), trial.racer(index))),
        trial.second.announceHandlers(trial.account, [{ id, types: ['payment.failed'] }], at(0)),
      ]);
      const delivered = eventIds(await trial.lease([id], at(1_000)));
      same(delivered.sort(), records.map((record) => `${record.conversationId}:2`).sort());
    },
  },
];
