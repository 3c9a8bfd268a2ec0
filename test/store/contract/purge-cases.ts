import assert from 'node:assert/strict';
import { at, eventIds, type PaymentStoreCase, RACERS, same, unique } from './store-trial.js';

const settled = { state: 'succeeded', finalizedAt: at(10) } as const;

/** Deleting payments, and pairs that are no longer announced. */
export const purgeCases: readonly PaymentStoreCase[] = [
  {
    name: 'purge deletes a settled payment with its history, events and keys',
    async run(trial) {
      const handler = await trial.handler('payment.unknown', 'payment.succeeded');
      const full = trial.fullRecord({ state: 'authorizing', finalizedAt: null, dueAt: null });
      await trial.put(full);
      const unknown = await trial.publish(full, 'unknown', at(5));
      const done = trial.next(unknown.record, { ...settled, updatedAt: at(10) });
      assert.equal(await trial.store.replace(done, unknown.record, trial.event(done, 'succeeded')), 'replaced');
      assert.equal((await trial.drain(handler)).length, 2);

      trial.moveTo(1_000);
      same(await trial.purge(), { payments: 1, events: 2 });
      const { account, conversationId } = full;
      for (const store of [trial.store, trial.second]) {
        assert.equal(await store.find(account, conversationId), null);
        assert.equal(await store.findByTokenHash(account, full.tokenHash!), null);
        same(await store.findByReference(account, full.reference!), []);
        same(await store.listByState(account, ['succeeded'], 10), []);
        same(await store.history(account, conversationId), []);
      }
      same(await trial.leaseDue(), []);
      same(await trial.purge(), { payments: 0, events: 0 });
      await trial.insert({ tokenHash: full.tokenHash });
    },
  },
  {
    name: 'purge keeps a settled payment for paymentsMs, and for good where that is null',
    async run(trial) {
      const record = await trial.insert({ ...settled, createdAt: at(-9_000_000) });
      trial.moveTo(1_009);
      same(await trial.purge({ paymentsMs: 1_000 }), { payments: 0, events: 0 });
      trial.moveTo(1_011);
      same(await trial.purge({ paymentsMs: null }), { payments: 0, events: 0 });
      same(await trial.find(record), record);
      same(await trial.purge({ paymentsMs: 1_000 }), { payments: 1, events: 0 });
      assert.equal(await trial.find(record), null);
    },
  },
  {
    name: 'purge deletes no unsettled payment and none of another account',
    async run(trial) {
      const unsettled = await trial.insert({ state: 'unknown', createdAt: at(0) });
      const failed = await trial.insert({ state: 'failed', finalizedAt: at(9) });
      const again = await trial.replace(failed, { state: 'review', finalizedAt: null });
      const other = trial.record({ ...settled, account: unique('other') });
      await trial.put(other);
      trial.moveTo(1_000_000);
      same(await trial.purge(), { payments: 0, events: 0 });
      for (const record of [unsettled, again, other]) same(await trial.find(record), record);
    },
  },
  {
    name: 'purge does not touch a payment of another account with the same conversationId and keys',
    async run(trial) {
      const handler = await trial.handler('payment.succeeded');
      const account = unique('other');
      const full = trial.fullRecord({ state: 'authorizing', finalizedAt: null, dueAt: null });
      const others = { ...full, account };
      const reference = full.referenceLock!;
      for (const record of [full, others]) {
        await trial.put(record);
        const done = trial.next(record, settled);
        assert.equal(await trial.store.replace(done, record, trial.event(done, 'succeeded')), 'replaced');
      }
      assert.equal((await trial.drain(handler)).length, 1);
      trial.moveTo(1_000);
      same(await trial.purge(), { payments: 1, events: 1 });

      const left = trial.next(others, settled);
      for (const store of [trial.store, trial.second]) {
        same(await store.find(account, left.conversationId), left);
        same(await store.findByTokenHash(account, left.tokenHash!), left);
        same(await store.findByIdempotencyKey(account, left.idempotencyKey!), left);
        same((await store.history(account, left.conversationId)).length, 2);
      }
      same((await trial.store.counts(account)).waitingEvents, 1);
      // It still holds its reference: it can release it.
      const freed = trial.next(left, { referenceLock: null });
      assert.equal(await trial.store.replace(freed, left), 'replaced');
      assert.equal(await trial.store.insert(trial.record({ account, referenceLock: reference })), null);
    },
  },
  {
    name: 'purge keeps a settled payment that is still due',
    async run(trial) {
      const late = await trial.insert({ ...settled, state: 'expired', dueAt: at(500) });
      const done = await trial.insert(settled);
      trial.moveTo(1_000);
      same(await trial.purge(), { payments: 1, events: 0 });
      assert.equal(await trial.find(done), null);
      same(await trial.find(late), late);
      await trial.replace(late, { dueAt: null });
      same(await trial.purge(), { payments: 1, events: 0 });
    },
  },
  {
    name: 'purge deletes many payments at once',
    async run(trial) {
      await trial.inChunks(Array<null>(250).fill(null), () => trial.insert(settled));
      trial.moveTo(1_000);
      same(await trial.purge(), { payments: 250, events: 0 });
    },
  },
  {
    name: 'concurrent purges delete and count each payment once',
    async run(trial) {
      for (let left = 20; left > 0; left -= 1) await trial.insertWithEvent('succeeded', settled);
      trial.moveTo(1_000);
      const retention = { paymentsMs: 0, pairsMs: 1_000_000, keysMs: 1_000_000 };
      const counts = await trial.race((store) => store.purge(trial.account, retention), 4);
      counts.push(await trial.purge());
      const sum = (of: 'payments' | 'events') => counts.reduce((total, count) => total + count[of], 0);
      same([sum('payments'), sum('events')], [20, 20]);
    },
  },
  {
    name: 'the referenceLock of a purged payment stays taken, even for a new payment with the same conversationId',
    async run(trial) {
      const lock = unique('reference');
      const paid = await trial.insert({ ...settled, reference: lock, referenceLock: lock });
      trial.moveTo(1_000);
      assert.equal((await trial.purge()).payments, 1);
      assert.equal(await trial.store.insert(trial.record({ referenceLock: lock })), 'referenceLock');
      const second = await trial.insert();
      assert.equal(await trial.store.replace(trial.next(second, { referenceLock: lock }), second), 'locked');

      const namesake = await trial.insert({ conversationId: paid.conversationId });
      assert.equal(await trial.store.replace(trial.next(namesake, { referenceLock: lock }), namesake), 'locked');
      await trial.replace(namesake, { referenceLock: null });
      assert.equal(await trial.store.replace(trial.next(second, { referenceLock: lock }), second), 'locked');
    },
  },
  {
    name: 'a referenceLock that was released before the purge is free',
    async run(trial) {
      const lock = unique('reference');
      const charging = await trial.insert({ state: 'charging', referenceLock: lock });
      await trial.replace(charging, { state: 'failed', finalizedAt: at(1), referenceLock: null });
      trial.moveTo(1_000);
      assert.equal((await trial.purge()).payments, 1);
      await trial.insert({ referenceLock: lock });
    },
  },
  {
    name: 'purge keeps a payment while it has a delivery that is open, leased, postponed or parked',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const record = await trial.insertWithEvent('failed', { finalizedAt: at(1), updatedAt: at(1) });
      const expectNothingPurged = async () => same(await trial.purge(), { payments: 0, events: 0 });
      await trial.fanOut();
      trial.moveTo(100);
      await expectNothingPurged();
      await trial.lease(handler, { leaseMs: 100 });
      await expectNothingPurged();
      trial.moveTo(200);
      await trial.fail(handler, { retryInMs: 100 });
      await expectNothingPurged();
      trial.moveTo(300);
      await trial.fail(handler, { parked: true });
      await expectNothingPurged();
      assert.equal(await trial.replay(handler, `${record.conversationId}:1`), true);
      const [delivery] = await trial.lease(handler);
      same(delivery?.event, trial.event(record, 'failed'));
      await trial.acknowledge(handler, `${record.conversationId}:1`);
      same(await trial.purge(), { payments: 1, events: 1 });
    },
  },
  {
    name: 'purge keeps a payment while an event of it waits to be fanned out to a known handler',
    async run(trial) {
      const record = await trial.insertWithEvent('failed', { finalizedAt: at(1) });
      const handler = await trial.handler('payment.failed');
      trial.moveTo(100);
      same(await trial.purge(), { payments: 0, events: 0 });
      same(await trial.drain(handler), [`${record.conversationId}:1`]);
      same(await trial.purge(), { payments: 1, events: 1 });
    },
  },
  {
    name: 'an event of a type that no handler takes does not keep its payment, and is deleted with it',
    async run(trial) {
      await trial.handler('payment.succeeded');
      await trial.insertWithEvent('failed', { finalizedAt: at(1) });
      trial.moveTo(100);
      same(await trial.purge(), { payments: 1, events: 1 });
      assert.equal((await trial.counts()).waitingEvents, 0);
      const handler = await trial.handler('payment.failed');
      assert.equal(await trial.fanOut(), 0);
      same(await trial.lease(handler), []);
    },
  },
  {
    name: 'when a purge and a replace of a payment happen at once, only one of them is done',
    async run(trial) {
      for (let round = 0; round < RACERS; round += 1) {
        trial.moveTo(round * 1_000);
        const failed = await trial.insert({ state: 'failed', finalizedAt: at(round * 1_000 - 1) });
        const review = trial.next(failed, { state: 'review', finalizedAt: null });
        const [{ payments }, outcome] = await Promise.all([trial.purge(), trial.second.replace(review, failed)]);
        same([payments, outcome], outcome === 'replaced' ? [0, 'replaced'] : [1, 'stale']);
        same(await trial.find(failed), outcome === 'replaced' ? review : null);
        same(await trial.versions(failed), outcome === 'replaced' ? [1, 2] : []);
      }
    },
  },
  {
    name: 'when a purge and a first announcement happen at once, the waiting event is deleted with its payment or delivered',
    async run(trial) {
      const types = ['payment.failed'] as const;
      for (let round = 0; round < RACERS; round += 1) {
        trial.moveTo(round * 1_000);
        const account = unique('account');
        const failed = trial.record({ account, state: 'failed', finalizedAt: at(round * 1_000 - 1) });
        await trial.store.insert(failed, trial.event(failed, 'failed'));
        const takeOver = async () => {
          await trial.second.announce(account, [{ handlerId: 'H', type: 'payment.failed' }]);
          await trial.second.fanOut(account, 10);
        };
        const retention = { paymentsMs: 0, pairsMs: 1_000_000, keysMs: 1_000_000 };
        const [{ payments }] = await Promise.all([trial.store.purge(account, retention), takeOver()]);
        await trial.store.fanOut(account, 10);
        const request = { account, handlerId: 'H', types, lease: 'L', leaseMs: 1_000, limit: 10 };
        const delivered = eventIds(await trial.store.leaseDeliveries(request));
        const isThere = (await trial.find(failed)) !== null;
        same([isThere, delivered], payments === 0 ? [true, [`${failed.conversationId}:1`]] : [false, []]);
      }
    },
  },
  {
    name: 'purge forgets a pair that has not been announced for pairsMs, with its open and parked deliveries',
    async run(trial) {
      const gone = await trial.handler('payment.failed');
      const known = await trial.handler('payment.failed');
      const published = [await trial.publishNew('failed', 1), await trial.publishNew('failed', 2)];
      await trial.fail(gone, { parked: true });
      trial.moveTo(500);
      await trial.announce(known, 'payment.failed');
      trial.moveTo(999);
      await trial.purge({ paymentsMs: null, pairsMs: 1_000 });
      same((await trial.listParked()).length, 1);

      trial.moveTo(1_001);
      await trial.purge({ paymentsMs: null, pairsMs: 1_000 });
      same(await trial.listParked(), []);
      same(await trial.take(gone), []);
      same((await trial.drain(known)).sort(), published.sort());
      const { openDeliveries, orphanedDeliveries } = await trial.counts();
      same([openDeliveries, orphanedDeliveries], [0, 0]);
    },
  },
  {
    name: 'purge can forget one type of a handler and keep its others',
    async run(trial) {
      const handler = await trial.handler('payment.failed', 'payment.succeeded');
      await trial.publishNew('failed');
      const stays = await trial.publishNew('succeeded');
      await trial.fanOut();
      trial.moveTo(500);
      await trial.announce(handler, 'payment.succeeded');
      trial.moveTo(1_001);
      await trial.purge({ paymentsMs: null, pairsMs: 1_000 });
      same(await trial.drain(handler), [stays]);
    },
  },
  {
    name: 'events of a type wait for a new handler once the last pair of that type is forgotten',
    async run(trial) {
      const gone = await trial.handler('payment.failed');
      trial.moveTo(1_001);
      await trial.purge({ paymentsMs: null, pairsMs: 1_000 });
      const eventId = await trial.publishNew('failed');
      assert.equal(await trial.fanOut(), 0);
      const handler = await trial.handler('payment.failed');
      same(await trial.drain(gone), []);
      same(await trial.drain(handler), [eventId]);
    },
  },
  {
    name: 'a forgotten pair does not keep a payment from being purged',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      await trial.insertWithEvent('failed', { finalizedAt: at(1) });
      await trial.fanOut();
      await trial.insertWithEvent('failed', { finalizedAt: at(1) });
      trial.moveTo(1_001);
      same(await trial.purge({ pairsMs: 1_000 }), { payments: 2, events: 2 });
      same(await trial.take(handler), []);
      same(await trial.listByState(['failed']), []);
    },
  },
  {
    name: 'purge forgets a pair with all its deliveries, however many',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      await trial.inChunks(Array<null>(250).fill(null), () => trial.insertWithEvent('failed', { finalizedAt: at(1) }));
      assert.equal(await trial.fanOut(), 250);
      trial.moveTo(1_001);
      same(await trial.purge({ pairsMs: 1_000 }), { payments: 250, events: 250 });
      await trial.announce(handler, 'payment.failed');
      assert.equal((await trial.counts()).openDeliveries, 0);
      same(await trial.take(handler), []);
    },
  },
  {
    name: 'purge forgets no pair of another account',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      trial.moveTo(1_001);
      await trial.store.purge(`${trial.account}-other`, { paymentsMs: 0, pairsMs: 1_000, keysMs: 1_000 });
      const eventId = await trial.publishNew('failed');
      same(await trial.drain(handler), [eventId]);
    },
  },
];
