import assert from 'node:assert/strict';
import { at, eventIds, ids, type PaymentStoreCase, RACERS, tally, unique } from './store-trial.js';
import { same } from './same.js';

/** At most one payment holds a reference. */
export const referenceLockCases: readonly PaymentStoreCase[] = [
  {
    name: 'replace is locked while another payment holds the referenceLock, and writes nothing',
    async run(trial) {
      const handler = await trial.handler('payment.review');
      const lock = unique('reference');
      const holder = await trial.insert({ referenceLock: lock });
      const record = await trial.insert({ idempotencyKey: unique('key') });
      const next = trial.next(record, {
        state: 'review',
        referenceLock: lock,
        idempotencyKey: null,
        dueAt: at(0),
        tokenHash: unique('token'),
      });
      assert.equal(await trial.store.replace(next, record.version, trial.event(next, 'review')), 'locked');

      same(await trial.find(record), record);
      same(await trial.find(holder), holder);
      same(await trial.store.findByIdempotencyKey(trial.account, record.idempotencyKey!), record);
      assert.equal(await trial.store.findByTokenHash(trial.account, next.tokenHash!), null);
      same(await trial.versions(record), [1]);
      same(await trial.leaseDue(), []);
      same(await trial.take(handler), []);
      const unlocked = { ...next, referenceLock: null };
      assert.equal(await trial.store.replace(unlocked, record.version, trial.event(next, 'review')), 'replaced');
      same(eventIds(await trial.take(handler)), [`${record.conversationId}:2`]);
    },
  },
  {
    name: `of ${RACERS} payments that reach for one referenceLock at once, one gets it`,
    async run(trial) {
      const lock = unique('reference');
      const records = await Promise.all(Array.from({ length: RACERS }, () => trial.insert({ reference: lock })));
      const outcomes = await trial.race((store, index) =>
        store.replace(trial.next(records[index]!, { state: 'authorizing', referenceLock: lock }), 1),
      );
      same(tally(outcomes), { replaced: 1, locked: RACERS - 1 });
      const claimed = await trial.store.listByState(trial.account, ['authorizing'], RACERS);
      same(ids(claimed), [records[outcomes.indexOf('replaced')]!.conversationId]);
    },
  },
  {
    name: 'of a new payment and one that moves on, one gets the referenceLock that both reach for',
    async run(trial) {
      for (let round = 0; round < RACERS; round += 1) {
        const lock = unique('reference');
        const record = await trial.insert();
        const [inserted, replaced] = await Promise.all([
          trial.store.insert(trial.record({ referenceLock: lock })),
          trial.second.replace(trial.next(record, { referenceLock: lock }), 1),
        ]);
        const both = `${inserted} ${replaced}`;
        assert.ok(both === 'null locked' || both === 'referenceLock replaced', both);
      }
    },
  },
  {
    name: 'a referenceLock is held from version to version, and free once it is released',
    async run(trial) {
      const lock = unique('reference');
      const first = await trial.insert();
      const second = await trial.insert();
      const reach = () => trial.store.replace(trial.next(second, { referenceLock: lock }), second.version);
      const claimed = await trial.replace(first, { state: 'authorizing', referenceLock: lock });
      assert.equal(await reach(), 'locked');
      const unknown = await trial.replace(claimed, { state: 'unknown' });
      assert.equal(await reach(), 'locked');
      const failed = await trial.replace(unknown, { state: 'failed', referenceLock: null });
      assert.equal(await reach(), 'replaced');
      const review = trial.next(failed, { state: 'review', referenceLock: lock });
      assert.equal(await trial.store.replace(review, failed.version), 'locked');
    },
  },
  {
    name: 'what a payment releases, another account’s payment of the same conversationId keeps',
    async run(trial) {
      const keys = { referenceLock: unique('reference'), idempotencyKey: unique('key') };
      const record = await trial.insert(keys);
      const account = unique('other');
      assert.equal(await trial.store.insert({ ...record, account }), null);
      await trial.replace(record, { referenceLock: null, idempotencyKey: null });
      for (const key of ['referenceLock', 'idempotencyKey'] as const) {
        const second = trial.record({ account, [key]: keys[key] });
        assert.equal(await trial.second.insert(second), key);
        await trial.insert({ [key]: keys[key] });
      }
    },
  },
];
