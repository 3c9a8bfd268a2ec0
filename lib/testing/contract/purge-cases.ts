import assert from 'node:assert/strict';
import { at, eventIds, type PaymentStoreCase, RACERS, unique } from './store-trial.js';
import { same } from './same.js';

const settled = { state: 'succeeded', finalizedAt: at(10) } as const;

/** Which payments are deleted, and which never are. */
export const purgeCases: readonly PaymentStoreCase[] = [
  {
    name: 'purge deletes a settled payment with its history, events and keys',
    async run(trial) {
      const handler = await trial.handler('payment.unknown', 'payment.succeeded');
      const full = trial.fullRecord({ state: 'authorizing', finalizedAt: null, dueAt: null });
      assert.equal(await trial.store.insert(full), null);
      const unknown = await trial.publish(full, 'unknown', at(5));
      const done = trial.next(unknown.record, { ...settled, updatedAt: at(10), dueAt: at(11) });
      assert.equal(await trial.store.replace(done, unknown.record.version, trial.event(done, 'succeeded')), 'replaced');
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
    name: 'purge keeps a settled payment as long as it is asked to, and for good where it is asked to',
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
    name: 'purge deletes nothing that is unsettled or of another account',
    async run(trial) {
      const unsettled = await trial.insert({ state: 'unknown', createdAt: at(0) });
      const failed = await trial.insert({ state: 'failed', finalizedAt: at(9) });
      const again = await trial.replace(failed, { state: 'review', finalizedAt: null });
      const other = trial.record({ ...settled, account: unique('other') });
      assert.equal(await trial.store.insert(other), null);
      trial.moveTo(1_000_000);
      same(await trial.purge(), { payments: 0, events: 0 });
      for (const record of [unsettled, again, other]) same(await trial.find(record), record);
    },
  },
  {
    name: 'purge leaves a payment of another account whole, with the same conversationId and the same keys',
    async run(trial) {
      const handler = await trial.handler('payment.succeeded');
      const account = unique('other');
      const full = trial.fullRecord({ state: 'authorizing', finalizedAt: null, dueAt: null });
      const others = { ...full, account };
      const reference = full.referenceLock!;
      for (const record of [full, others]) {
        assert.equal(await trial.store.insert(record), null);
        const done = trial.next(record, settled);
        assert.equal(await trial.store.replace(done, record.version, trial.event(done, 'succeeded')), 'replaced');
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
      assert.equal(await trial.store.replace(freed, left.version), 'replaced');
      assert.equal(await trial.store.insert(trial.record({ account, referenceLock: reference })), null);
    },
  },
  {
    name: 'purge deletes many payments at once',
    async run(trial) {
      const many = Array.from({ length: 250 }, () => trial.record(settled));
      await trial.inChunks(many, (record) => trial.store.insert(record));
      trial.moveTo(1_000);
      same(await trial.purge(), { payments: 250, events: 0 });
    },
  },
  {
    name: 'of two purges at once, each payment is deleted and counted once',
    async run(trial) {
      for (let left = 20; left > 0; left -= 1) {
        const record = trial.record(settled);
        assert.equal(await trial.store.insert(record, trial.event(record, 'succeeded')), null);
      }
      trial.moveTo(1_000);
      const retention = { paymentsMs: 0, pairsMs: 1_000_000, keysMs: 1_000_000 };
      const counts = await trial.race((store) => store.purge(trial.account, retention), 4);
      counts.push(await trial.purge());
      const sum = (of: 'payments' | 'events') => counts.reduce((total, count) => total + count[of], 0);
      same([sum('payments'), sum('events')], [20, 20]);
    },
  },
  {
    name: 'a referenceLock outlives its payment, for whoever comes, even under the same conversationId',
    async run(trial) {
      const lock = unique('reference');
      const paid = await trial.insert({ ...settled, reference: lock, referenceLock: lock });
      trial.moveTo(1_000);
      assert.equal((await trial.purge()).payments, 1);
      assert.equal(await trial.store.insert(trial.record({ referenceLock: lock })), 'referenceLock');
      const second = await trial.insert();
      assert.equal(await trial.store.replace(trial.next(second, { referenceLock: lock }), 1), 'locked');

      const namesake = await trial.insert({ conversationId: paid.conversationId });
      assert.equal(await trial.store.replace(trial.next(namesake, { referenceLock: lock }), 1), 'locked');
      await trial.replace(namesake, { referenceLock: null });
      assert.equal(await trial.store.replace(trial.next(second, { referenceLock: lock }), 1), 'locked');
    },
  },
  {
    name: 'a released referenceLock does not outlive its payment',
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
    name: 'purge keeps a payment while a delivery of it is open, leased, put off or parked',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const record = trial.record({ state: 'failed', finalizedAt: at(1), updatedAt: at(1) });
      await trial.store.insert(record, trial.event(record, 'failed'));
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
      assert.equal(await trial.store.replay(trial.account, handler, `${record.conversationId}:1`), true);
      const [delivery] = await trial.lease(handler);
      same(delivery?.event, trial.event(record, 'failed'));
      await trial.store.acknowledge(trial.account, handler, `${record.conversationId}:1`);
      same(await trial.purge(), { payments: 1, events: 1 });
    },
  },
  {
    name: 'purge keeps a payment while an event of it waits to be fanned out to a known handler',
    async run(trial) {
      const record = trial.record({ state: 'failed', finalizedAt: at(1) });
      await trial.store.insert(record, trial.event(record, 'failed'));
      const handler = await trial.handler('payment.failed');
      trial.moveTo(100);
      same(await trial.purge(), { payments: 0, events: 0 });
      same(await trial.drain(handler), [`${record.conversationId}:1`]);
      same(await trial.purge(), { payments: 1, events: 1 });
    },
  },
  {
    name: 'an event that waits for nobody holds no payment back, and goes with it',
    async run(trial) {
      await trial.handler('payment.succeeded');
      const record = trial.record({ state: 'failed', finalizedAt: at(1) });
      await trial.store.insert(record, trial.event(record, 'failed'));
      trial.moveTo(100);
      same(await trial.purge(), { payments: 1, events: 1 });
      assert.equal((await trial.store.counts(trial.account)).waitingEvents, 0);
      const handler = await trial.handler('payment.failed');
      assert.equal(await trial.fanOut(), 0);
      same(await trial.lease(handler), []);
    },
  },
  {
    name: 'of a purge and a change to the payment at once, one is done',
    async run(trial) {
      for (let round = 0; round < RACERS; round += 1) {
        trial.moveTo(round * 1_000);
        const failed = await trial.insert({ state: 'failed', finalizedAt: at(round * 1_000 - 1) });
        const review = trial.next(failed, { state: 'review', finalizedAt: null });
        const [{ payments }, outcome] = await Promise.all([
          trial.purge(),
          trial.second.replace(review, failed.version),
        ]);
        same([payments, outcome], outcome === 'replaced' ? [0, 'replaced'] : [1, 'stale']);
        same(await trial.find(failed), outcome === 'replaced' ? review : null);
        same(await trial.versions(failed), outcome === 'replaced' ? [1, 2] : []);
      }
    },
  },
  {
    name: 'of a purge and a first handler at once, the waiting event is deleted with its payment or delivered',
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
];
