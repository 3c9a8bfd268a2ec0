import assert from 'node:assert/strict';
import type { Delivery } from '../../../../lib/store/payment-store.js';
import { at, eventIds, leased, type PaymentStoreCase, RACERS, same, type StoreTrial, unique } from '../store-trial.js';

/** Leases a delivery for this long, with the lease `mine`. */
async function leaseOne(trial: StoreTrial, leaseMs: number): Promise<{ handler: string; delivery: Delivery }> {
  const handler = await trial.handler('payment.failed');
  await trial.publishNew('failed');
  const [delivery] = await trial.take(handler, { lease: 'mine', leaseMs });
  assert.ok(delivery);
  return { handler, delivery };
}

/** Leasing deliveries, and what the holder of a lease can do with them. */
export const deliveryCases: readonly PaymentStoreCase[] = [
  {
    name: 'each handler of its type gets an event once, as it was written',
    async run(trial) {
      const one = await trial.handler('payment.failed', 'payment.succeeded');
      const two = await trial.handler('payment.succeeded');
      const none = await trial.handler('payment.failed');
      const full = trial.fullRecord({ state: 'authorizing' });
      await trial.put(full);
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
    name: 'an event that is written with an insert is delivered, too',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const record = await trial.insertWithEvent('failed');
      same(eventIds(await trial.take(handler)), [`${record.conversationId}:1`]);
    },
  },
  {
    name: 'leaseDeliveries gives a handler no delivery of another handler or another account',
    async run(trial) {
      const one = await trial.handler('payment.failed');
      const two = await trial.handler('payment.failed');
      await trial.publishNew('failed');
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
    name: 'leaseDeliveries gives only the types that it is asked for, even where the handler id was announced with more',
    async run(trial) {
      const handler = await trial.handler('payment.failed', 'payment.succeeded');
      const failed: string[] = [];
      for (let ms = 1; ms <= 5; ms += 1) {
        failed.push(await trial.publishNew('failed', ms));
      }
      await trial.fanOut();
      trial.moveTo(10);
      const eventId = await trial.publishNew('succeeded', 10);
      await trial.fanOut();
      same(await trial.lease(handler, { types: [] }), []);
      same(await trial.lease(handler, { types: ['payment.review'] }), []);
      same(eventIds(await trial.lease(handler, { types: ['payment.succeeded'], limit: 1 })), [eventId]);
      same(await trial.lease(handler, { types: ['payment.succeeded'] }), []);
      same(eventIds(await trial.lease(handler, { types: ['payment.failed'] })).sort(), failed.sort());
    },
  },
  {
    name: 'leaseDeliveries gives the longest due first, up to the limit',
    async run(trial) {
      const handler = await trial.handler('payment.failed', 'payment.unknown');
      const publishAt = async (ms: number, state: 'failed' | 'unknown', occurred: number): Promise<string> => {
        trial.moveTo(ms);
        const eventId = await trial.publishNew(state, occurred);
        await trial.fanOut();
        return eventId;
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
    name: 'a leased delivery is not leased again until its lease runs out by the store’s time',
    async run(trial) {
      const { handler, eventId } = await trial.oneEvent();
      trial.moveTo(10);
      same(eventIds(await trial.take(handler, { leaseMs: 90 })), [eventId]);
      trial.moveTo(99);
      same(await trial.take(handler, { store: trial.second }), []);
      trial.moveTo(100);
      same(eventIds(await trial.lease(handler, { store: trial.second })), [eventId]);
    },
  },
  {
    name: 'concurrent calls of leaseDeliveries never lease the same delivery',
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
    name: 'an acknowledged delivery is gone for good, for that handler only',
    async run(trial) {
      const one = await trial.handler('payment.failed');
      const two = await trial.handler('payment.failed');
      const eventId = await trial.publishNew('failed');
      await trial.take(one);
      await trial.store.acknowledge(`${trial.account}-other`, two, eventId);
      await trial.acknowledge(one, eventId);
      await trial.acknowledge(one, eventId);
      trial.moveTo(1_000_000);
      await trial.announce(one, 'payment.failed');
      same(await trial.take(one), []);
      same(eventIds(await trial.take(two)), [eventId]);
    },
  },
  {
    name: 'handler ids that differ in case, spaces or accents are different handlers',
    async run(trial) {
      const ids = ['Sipariş.ödendi', 'sipariş.ödendi', 'Siparis.odendi', 'Sipariş.ödendi ', unique('"\'\\ ; --:{}')];
      for (const id of ids) await trial.announce(id, 'payment.failed');
      const eventId = await trial.publishNew('failed');
      for (const id of ids) same(await trial.drain(id), [eventId]);
    },
  },
  {
    name: 'the holder of a lease can renew it, counted from the store’s time',
    async run(trial) {
      const { handler, delivery } = await leaseOne(trial, 100);
      trial.moveTo(80);
      assert.equal(await trial.second.renewLease(leased(delivery, 'mine'), 100), true);
      trial.moveTo(179);
      same(await trial.lease(handler), []);
      assert.equal(await trial.renew(delivery, 'mine', 100), true);
      trial.moveTo(278);
      same(await trial.lease(handler), []);
      trial.moveTo(279);
      same(await trial.lease(handler, { leaseMs: 21 }), [{ ...delivery, dueAt: at(300) }]);
    },
  },
  {
    name: 'only the holder of a lease can renew it',
    async run(trial) {
      const { handler, delivery } = await leaseOne(trial, 100);
      assert.equal(await trial.renew(delivery, 'other', 1_000), false);
      assert.equal(await trial.renew(delivery, 'MINE', 1_000), false);
      assert.equal(await trial.renew(delivery, '', 1_000), false);
      trial.moveTo(100);
      same(eventIds(await trial.lease(handler, { lease: 'other' })), [delivery.event.eventId]);
      assert.equal(await trial.renew(delivery, 'mine', 1_000), false);
      assert.equal(await trial.renew(delivery, 'other', 1_000), true);
    },
  },
  {
    name: 'a lease that ran out can still be renewed while nobody has leased the delivery again',
    async run(trial) {
      const { handler, delivery } = await leaseOne(trial, 100);
      trial.moveTo(500);
      assert.equal(await trial.renew(delivery, 'mine', 100), true);
      trial.moveTo(599);
      same(await trial.lease(handler), []);
    },
  },
  {
    name: 'renewLease returns false for a delivery that does not exist',
    async run(trial) {
      const { handler, delivery } = await leaseOne(trial, 100);
      const held = leased(delivery, 'mine');
      assert.equal(await trial.store.renewLease({ ...held, account: `${trial.account}-other` }, 1_000), false);
      assert.equal(await trial.store.renewLease({ ...held, handlerId: 'none' }, 1_000), false);
      assert.equal(await trial.store.renewLease({ ...held, eventId: 'none:2' }, 1_000), false);
      await trial.acknowledge(handler, held.eventId);
      assert.equal(await trial.store.renewLease(held, 1_000), false);
      same(await trial.listParked(), []);
    },
  },
  {
    name: 'a lease that runs out is either renewed or taken over, never both',
    async run(trial) {
      for (let round = 0; round < RACERS; round += 1) {
        trial.moveTo(round * 1_000_000);
        const { handler, delivery } = await leaseOne(trial, 100);
        trial.moveTo(round * 1_000_000 + 100);
        const [renewed, taken] = await Promise.all([
          trial.renew(delivery, 'mine', 1_000),
          trial.lease(handler, { store: trial.second }),
        ]);
        same([renewed, taken.length], renewed ? [true, 0] : [false, 1]);
      }
    },
  },
  {
    name: 'postpone stores the failed attempts, the error and when the delivery is due again',
    async run(trial) {
      const { handler, delivery } = await leaseOne(trial, 1_000);
      const failed = { attempts: 3, error: `Hata: “ş” \u0000 ${'x'.repeat(5_000)}`, retryInMs: 400, parked: false };
      trial.moveTo(100);
      await trial.second.postpone(leased(delivery, 'mine'), failed);
      trial.moveTo(499);
      same(await trial.lease(handler), []);
      trial.moveTo(500);
      const { attempts, error } = failed;
      same(await trial.lease(handler, { leaseMs: 277 }), [{ ...delivery, attempts, error, dueAt: at(777) }]);
    },
  },
  {
    name: 'only the holder of a lease can postpone its delivery, which ends the lease',
    async run(trial) {
      const { handler, delivery } = await leaseOne(trial, 100);
      await trial.postpone(delivery, 'other', { parked: true });
      same(await trial.listParked(), []);
      await trial.postpone(delivery, 'mine', { attempts: 1, retryInMs: 50 });
      await trial.postpone(delivery, 'mine', { attempts: 2, parked: true });
      assert.equal(await trial.renew(delivery, 'mine', 1_000), false);
      trial.moveTo(50);
      const [again] = await trial.lease(handler);
      same([again?.attempts, again?.parked], [1, false]);
    },
  },
  {
    name: 'a holder whose lease was taken over can no longer postpone the delivery',
    async run(trial) {
      const { handler, delivery } = await leaseOne(trial, 100);
      trial.moveTo(100);
      const [taken] = await trial.lease(handler, { lease: 'other', leaseMs: 100 });
      await trial.postpone(delivery, 'mine', { attempts: 15, parked: true });
      same(await trial.listParked(), []);
      trial.moveTo(199);
      same(await trial.lease(handler), []);
      trial.moveTo(200);
      same(await trial.lease(handler, { leaseMs: 100 }), [{ ...taken, dueAt: at(300) }]);
    },
  },
  {
    name: 'a delivery can be acknowledged even when another caller has leased it meanwhile',
    async run(trial) {
      const { handler, delivery } = await leaseOne(trial, 100);
      trial.moveTo(100);
      const [taken] = await trial.lease(handler, { lease: 'other' });
      await trial.acknowledge(handler, delivery.event.eventId);
      assert.equal(await trial.renew(taken!, 'other', 1_000), false);
      await trial.postpone(taken!, 'other', { parked: true });
      same(await trial.listParked(), []);
      trial.moveTo(1_000_000);
      same(await trial.take(handler), []);
    },
  },
];
