import assert from 'node:assert/strict';
import { at, eventIds, ids, type PaymentStoreCase, unique } from './store-trial.js';
import { same } from './same.js';

const settled = { state: 'succeeded', finalizedAt: at(10) } as const;

/** What is deleted, and what never is. */
export const purgeCases: readonly PaymentStoreCase[] = [
  {
    name: 'purge: settled payments finalized before then, with history, events and keys',
    async run(trial) {
      const handler = await trial.handler('payment.unknown', 'payment.succeeded');
      const full = trial.fullRecord({ state: 'authorizing', finalizedAt: null, dueAt: null });
      assert.equal(await trial.store.insert(full), null);
      const unknown = await trial.publish(full, 'unknown', at(5));
      const done = trial.next(unknown.record, { ...settled, updatedAt: at(10), dueAt: at(11) });
      assert.equal(await trial.store.replace(done, unknown.record.version, trial.event(done, 'succeeded')), 'replaced');
      for (let left = 2; left > 0; left -= 1) {
        const [delivery] = await trial.lease([handler], at(100));
        await trial.store.acknowledge(trial.account, handler, delivery!.event.eventId);
      }

      same(await trial.store.purge(trial.account, at(11), at(0)), { payments: 1, events: 2 });
      const { account, conversationId } = full;
      for (const store of [trial.store, trial.second]) {
        assert.equal(await store.find(account, conversationId), null);
        assert.equal(await store.findByTokenHash(account, full.tokenHash!), null);
        assert.equal(await store.findByIdempotencyKey(account, full.idempotencyKey!), null);
        same(await store.findByReference(account, full.reference!), []);
        same(await store.listByState(account, ['succeeded'], 10), []);
        same(await store.history(account, conversationId), []);
      }
      same(await trial.leaseDue(at(1_000)), []);
      same(await trial.store.purge(trial.account, at(11), at(0)), { payments: 0, events: 0 });
      await trial.insert({ tokenHash: full.tokenHash, idempotencyKey: full.idempotencyKey });
    },
  },
  {
    name: 'purge: nothing that is unsettled, finalized later, or of another account',
    async run(trial) {
      const unsettled = await trial.insert({ state: 'unknown', createdAt: at(0) });
      const later = await trial.insert({ ...settled, createdAt: at(0) });
      const failed = await trial.insert({ state: 'failed', finalizedAt: at(9) });
      const again = await trial.replace(failed, { state: 'review', finalizedAt: null });
      const other = trial.record({ ...settled, account: unique('other') });
      assert.equal(await trial.store.insert(other), null);
      same(await trial.store.purge(trial.account, at(10), at(0)), { payments: 0, events: 0 });
      for (const record of [unsettled, later, again, other]) same(await trial.find(record), record);
      same(await trial.store.purge(trial.account, at(11), at(0)), { payments: 1, events: 0 });
      assert.equal(await trial.find(later), null);
      same(await trial.find(other), other);
    },
  },
  {
    name: 'purge: many at once',
    async run(trial) {
      const many = Array.from({ length: 250 }, () => trial.record(settled));
      for (let start = 0; start < many.length; start += 50) {
        await Promise.all(many.slice(start, start + 50).map((record) => trial.store.insert(record)));
      }
      same(await trial.store.purge(trial.account, at(11), at(0)), { payments: 250, events: 0 });
    },
  },
  {
    name: 'purge: a referenceLock outlives its payment, for whoever comes, even under the same conversationId',
    async run(trial) {
      const lock = unique('reference');
      const paid = await trial.insert({ ...settled, reference: lock, referenceLock: lock });
      assert.equal((await trial.store.purge(trial.account, at(11), at(0))).payments, 1);
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
    name: 'purge: a released referenceLock does not outlive its payment',
    async run(trial) {
      const lock = unique('reference');
      const charging = await trial.insert({ state: 'charging', referenceLock: lock });
      await trial.replace(charging, { state: 'failed', finalizedAt: at(1), referenceLock: null });
      assert.equal((await trial.store.purge(trial.account, at(11), at(0))).payments, 1);
      await trial.insert({ referenceLock: lock });
    },
  },
  {
    name: 'purge: not while a delivery is open, parked or not',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const waiting = trial.record({ state: 'failed', finalizedAt: at(1), updatedAt: at(1) });
      const parked = trial.record({ state: 'failed', finalizedAt: at(1), updatedAt: at(2) });
      for (const record of [waiting, parked]) await trial.store.insert(record, trial.event(record, 'failed'));
      const [one, two] = await trial.lease([handler], at(10), { until: at(20) });
      await trial.store.postpone({ ...two!, parked: true });
      const purge = () => trial.store.purge(trial.account, at(11), at(0));
      same(await purge(), { payments: 0, events: 0 });
      same(eventIds(await trial.lease([handler], at(20))), [one!.event.eventId]);
      await trial.store.acknowledge(trial.account, handler, one!.event.eventId);
      same(await purge(), { payments: 1, events: 1 });
      same(await trial.find(parked), parked);
      assert.equal(await trial.store.replay(trial.account, handler, two!.event.eventId, at(20)), true);
      same(
        (await trial.lease([handler], at(20))).map(({ event }) => event),
        [trial.event(parked, 'failed')],
      );
    },
  },
  {
    name: 'purge: an event that nobody takes holds no payment back, and goes with it',
    async run(trial) {
      const record = trial.record({ state: 'failed', finalizedAt: at(1) });
      await trial.store.insert(record, trial.event(record, 'failed'));
      same(await trial.store.purge(trial.account, at(11), at(0)), { payments: 1, events: 1 });
      const handler = await trial.handler('payment.failed');
      same(await trial.lease([handler], at(20)), []);
    },
  },
  {
    name: 'purge: handlers that no one has announced since are forgotten with their deliveries',
    async run(trial) {
      const announce = (id: string, when: Date) =>
        trial.store.announceHandlers(trial.account, [{ id, types: ['payment.failed'] }], when);
      const gone = unique('Gone');
      const known = unique('Known');
      await announce(gone, at(100));
      await announce(known, at(50));
      const { event } = await trial.publish(await trial.insert(), 'failed', at(60));
      const [parked] = await trial.lease([gone], at(60));
      await trial.store.postpone({ ...parked!, parked: true });
      await announce(known, at(101));

      await trial.store.purge(trial.account, at(0), at(101));
      same(await trial.store.listParked(trial.account, 10), []);
      same(await trial.lease([gone], at(200)), []);
      same(eventIds(await trial.lease([known], at(200))), [event.eventId]);

      await trial.store.purge(trial.account, at(0), at(102));
      const later = await trial.publish(await trial.insert(), 'failed', at(300));
      same(await trial.lease([gone, known], at(400)), []);
      await announce(known, at(400));
      same(eventIds(await trial.lease([known], at(400))), [later.event.eventId]);
    },
  },
  {
    name: 'purge: a forgotten handler holds no payment back',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const record = trial.record({ state: 'failed', finalizedAt: at(1) });
      await trial.store.insert(record, trial.event(record, 'failed'));
      same(await trial.store.purge(trial.account, at(11), at(1)), { payments: 1, events: 1 });
      same(await trial.lease([handler], at(20)), []);
      same(ids(await trial.store.listByState(trial.account, ['failed'], 10)), []);
    },
  },
];
