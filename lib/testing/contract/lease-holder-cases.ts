import assert from 'node:assert/strict';
import type { Delivery } from '../../store/payment-outbox.js';
import { aPostponement, at, eventIds, leased, type PaymentStoreCase, RACERS, type StoreTrial } from './store-trial.js';
import { same } from './same.js';

/** A delivery that `mine` has leased for that long. @returns it and its handler */
async function leaseOne(trial: StoreTrial, leaseMs: number): Promise<{ handler: string; delivery: Delivery }> {
  const handler = await trial.handler('payment.failed');
  await trial.publish(await trial.insert(), 'failed', at(1));
  const [delivery] = await trial.take(handler, { lease: 'mine', leaseMs });
  assert.ok(delivery);
  return { handler, delivery };
}

/** What whoever holds a lease may do, and nobody else. */
export const leaseHolderCases: readonly PaymentStoreCase[] = [
  {
    name: 'a lease is renewed by its holder, from the store’s time on',
    async run(trial) {
      const { handler, delivery } = await leaseOne(trial, 100);
      trial.moveTo(80);
      assert.equal(await trial.second.renewLease(leased(delivery, 'mine'), 100), true);
      trial.moveTo(179);
      same(await trial.lease(handler), []);
      assert.equal(await trial.store.renewLease(leased(delivery, 'mine'), 100), true);
      trial.moveTo(278);
      same(await trial.lease(handler), []);
      trial.moveTo(279);
      same(await trial.lease(handler, { leaseMs: 21 }), [{ ...delivery, dueAt: at(300) }]);
    },
  },
  {
    name: 'a lease is renewed by nobody but its holder',
    async run(trial) {
      const { handler, delivery } = await leaseOne(trial, 100);
      assert.equal(await trial.store.renewLease(leased(delivery, 'other'), 1_000), false);
      assert.equal(await trial.store.renewLease(leased(delivery, 'MINE'), 1_000), false);
      assert.equal(await trial.store.renewLease(leased(delivery, ''), 1_000), false);
      trial.moveTo(100);
      same(eventIds(await trial.lease(handler, { lease: 'other' })), [delivery.event.eventId]);
      assert.equal(await trial.store.renewLease(leased(delivery, 'mine'), 1_000), false);
      assert.equal(await trial.store.renewLease(leased(delivery, 'other'), 1_000), true);
    },
  },
  {
    name: 'a lease that ran out and that nobody has taken can still be renewed',
    async run(trial) {
      const { handler, delivery } = await leaseOne(trial, 100);
      trial.moveTo(500);
      assert.equal(await trial.store.renewLease(leased(delivery, 'mine'), 100), true);
      trial.moveTo(599);
      same(await trial.lease(handler), []);
    },
  },
  {
    name: 'renewLease says no where there is no such delivery',
    async run(trial) {
      const { handler, delivery } = await leaseOne(trial, 100);
      const held = leased(delivery, 'mine');
      assert.equal(await trial.store.renewLease({ ...held, account: `${trial.account}-other` }, 1_000), false);
      assert.equal(await trial.store.renewLease({ ...held, handlerId: 'none' }, 1_000), false);
      assert.equal(await trial.store.renewLease({ ...held, eventId: 'none:2' }, 1_000), false);
      await trial.store.acknowledge(trial.account, handler, held.eventId);
      assert.equal(await trial.store.renewLease(held, 1_000), false);
      same(await trial.store.listParked(trial.account, 10), []);
    },
  },
  {
    name: 'when a lease runs out, it is renewed or taken over, never both',
    async run(trial) {
      for (let round = 0; round < RACERS; round += 1) {
        trial.moveTo(round * 1_000_000);
        const { handler, delivery } = await leaseOne(trial, 100);
        trial.moveTo(round * 1_000_000 + 100);
        const [renewed, taken] = await Promise.all([
          trial.store.renewLease(leased(delivery, 'mine'), 1_000),
          trial.lease(handler, { store: trial.second }),
        ]);
        same([renewed, taken.length], renewed ? [true, 0] : [false, 1]);
      }
    },
  },
  {
    name: 'a delivery is postponed with its tries, its error and when it is due',
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
    name: 'a delivery is postponed by nobody but its holder, and then has none',
    async run(trial) {
      const { handler, delivery } = await leaseOne(trial, 100);
      await trial.store.postpone(leased(delivery, 'other'), aPostponement({ parked: true }));
      same(await trial.store.listParked(trial.account, 10), []);
      await trial.store.postpone(leased(delivery, 'mine'), aPostponement({ attempts: 1, retryInMs: 50 }));
      await trial.store.postpone(leased(delivery, 'mine'), aPostponement({ attempts: 2, parked: true }));
      assert.equal(await trial.store.renewLease(leased(delivery, 'mine'), 1_000), false);
      trial.moveTo(50);
      const [again] = await trial.lease(handler);
      same([again?.attempts, again?.parked], [1, false]);
    },
  },
  {
    name: 'whoever lost a delivery to another postpones it no more',
    async run(trial) {
      const { handler, delivery } = await leaseOne(trial, 100);
      trial.moveTo(100);
      const [taken] = await trial.lease(handler, { lease: 'other', leaseMs: 100 });
      await trial.store.postpone(leased(delivery, 'mine'), aPostponement({ attempts: 15, parked: true }));
      same(await trial.store.listParked(trial.account, 10), []);
      trial.moveTo(199);
      same(await trial.lease(handler), []);
      trial.moveTo(200);
      same(await trial.lease(handler, { leaseMs: 100 }), [{ ...taken, dueAt: at(300) }]);
    },
  },
  {
    name: 'a success counts, whoever has leased the delivery meanwhile',
    async run(trial) {
      const { handler, delivery } = await leaseOne(trial, 100);
      trial.moveTo(100);
      const [taken] = await trial.lease(handler, { lease: 'other' });
      await trial.store.acknowledge(trial.account, handler, delivery.event.eventId);
      assert.equal(await trial.store.renewLease(leased(taken!, 'other'), 1_000), false);
      await trial.store.postpone(leased(taken!, 'other'), aPostponement({ parked: true }));
      same(await trial.store.listParked(trial.account, 10), []);
      trial.moveTo(1_000_000);
      same(await trial.take(handler), []);
    },
  },
];
