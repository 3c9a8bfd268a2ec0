import assert from 'node:assert/strict';
import { at, eventIds, ids, type PaymentStoreCase, RACERS, tally, unique } from './store-trial.js';
import { same } from './same.js';

/** Compare-and-set, the reference's lock, and what is written along. */
export const replaceCases: readonly PaymentStoreCase[] = [
  {
    name: 'replace: every field comes back as it was, and null again where it is null again',
    async run(trial) {
      const empty = await trial.insert({ version: 6 });
      const full = trial.fullRecord({ conversationId: empty.conversationId });
      assert.equal(await trial.store.replace(full, 6), 'replaced');
      same(await trial.find(full), full);
      const emptied = { ...empty, version: 8 };
      assert.equal(await trial.store.replace(emptied, 7), 'replaced');
      same(await trial.find(full), emptied);
      assert.equal(await trial.store.findByTokenHash(trial.account, full.tokenHash!), null);
      assert.equal(await trial.store.findByIdempotencyKey(trial.account, full.idempotencyKey!), null);
      same(await trial.store.findByReference(trial.account, full.reference!), []);
      same(await trial.leaseDue(at(1_000)), []);
    },
  },
  {
    name: 'replace: history has every change, oldest first',
    async run(trial) {
      const first = await trial.insert({ updatedAt: at(1) });
      const second = await trial.replace(first, { state: 'authorizing', updatedAt: at(2) });
      const third = await trial.replace(second, { state: 'unknown', reason: 'no_answer', updatedAt: at(3) });
      await trial.replace(third, {
        state: 'succeeded',
        reason: 'operator',
        code: 'B0000',
        note: 'ok',
        updatedAt: at(3),
      });
      same(await trial.second.history(trial.account, first.conversationId), [
        { version: 1, state: 'awaiting', reason: null, code: null, note: null, at: at(1) },
        { version: 2, state: 'authorizing', reason: null, code: null, note: null, at: at(2) },
        { version: 3, state: 'unknown', reason: 'no_answer', code: null, note: null, at: at(3) },
        { version: 4, state: 'succeeded', reason: 'operator', code: 'B0000', note: 'ok', at: at(3) },
      ]);
    },
  },
  {
    name: 'replace: lists the payment where it is now, and nowhere else',
    async run(trial) {
      const record = await trial.insert({ dueAt: at(1) });
      const moved = await trial.replace(record, { state: 'unknown', dueAt: at(50) });
      same(await trial.store.listByState(trial.account, ['awaiting'], 10), []);
      same(await trial.store.listByState(trial.account, ['unknown'], 10), [moved]);
      same(await trial.leaseDue(at(49)), []);
      same(ids(await trial.leaseDue(at(50))), ids([moved]));
    },
  },
  {
    name: 'replace: stale for another version or an unknown payment, and nothing is written',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const record = await trial.insert({ version: 2 });
      const lock = unique('reference');
      for (const expected of [1, 3]) {
        const next = { ...record, version: expected + 1, state: 'failed', dueAt: at(0), referenceLock: lock } as const;
        assert.equal(await trial.store.replace(next, expected, trial.event(next, 'failed')), 'stale');
      }
      const none = trial.record({ referenceLock: lock });
      assert.equal(await trial.store.replace(none, 0, trial.event(none, 'failed')), 'stale');

      assert.equal(await trial.find(none), null);
      same(await trial.find(record), record);
      same(await trial.versions(record), [2]);
      same(await trial.versions(none), []);
      same(await trial.leaseDue(at(1)), []);
      same(await trial.lease([handler], at(1)), []);
      await trial.insert({ referenceLock: lock });
    },
  },
  {
    name: `replace: of ${RACERS} at once from one version, one is written, with its event and its line`,
    async run(trial) {
      const handler = await trial.handler('payment.unknown');
      const record = await trial.insert();
      const bids = Array.from({ length: RACERS }, (_, index) =>
        trial.next(record, { state: 'unknown', code: `bid ${index}`, updatedAt: at(index) }),
      );
      const outcomes = await trial.race((store, index) =>
        store.replace(bids[index]!, record.version, trial.event(bids[index]!, 'unknown')),
      );
      same(tally(outcomes), { replaced: 1, stale: RACERS - 1 });
      const winner = bids[outcomes.indexOf('replaced')]!;
      same(await trial.find(record), winner);
      const history = await trial.store.history(trial.account, record.conversationId);
      same(
        history.map(({ version, code }) => [version, code]),
        [
          [1, null],
          [2, winner.code],
        ],
      );
      const delivered = await trial.lease([handler], at(1_000));
      same(
        delivered.map(({ event }) => event),
        [trial.event(winner, 'unknown')],
      );
    },
  },
  {
    name: 'replace: one payment, many changes, each from what was read: none is lost',
    async run(trial) {
      const record = await trial.insert();
      await trial.race(async (store) => {
        for (;;) {
          const current = await store.find(trial.account, record.conversationId);
          assert.ok(current);
          const next = trial.next(current, { inquiries: current.inquiries + 1 });
          if ((await store.replace(next, current.version)) === 'replaced') return;
        }
      }, 8);
      const end = await trial.find(record);
      same([end?.inquiries, end?.version], [8, 9]);
      same(await trial.versions(record), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    },
  },
  {
    name: 'replace: locked while another payment holds the referenceLock, and nothing is written',
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
      same(await trial.leaseDue(at(1)), []);
      same(await trial.lease([handler], at(1)), []);
      const unlocked = { ...next, referenceLock: null };
      assert.equal(await trial.store.replace(unlocked, record.version, trial.event(next, 'review')), 'replaced');
      same(eventIds(await trial.lease([handler], at(1))), [`${record.conversationId}:2`]);
    },
  },
  {
    name: 'replace: stale before locked',
    async run(trial) {
      const lock = unique('reference');
      await trial.insert({ referenceLock: lock });
      const record = await trial.insert({ version: 5 });
      assert.equal(await trial.store.replace({ ...record, referenceLock: lock, version: 5 }, 4), 'stale');
    },
  },
  {
    name: `referenceLock: of ${RACERS} payments that reach for it at once, one gets it`,
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
    name: 'referenceLock: a new payment and one that moves on reach for it at once, and one gets it',
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
    name: 'referenceLock: is held from version to version, and free once it is released',
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
    name: 'idempotencyKey: free once its payment releases it',
    async run(trial) {
      const idempotencyKey = unique('key');
      const first = await trial.insert({ idempotencyKey });
      await trial.replace(first, { state: 'failed', reason: 'not_sent', idempotencyKey: null });
      const second = await trial.insert({ idempotencyKey });
      same(await trial.store.findByIdempotencyKey(trial.account, idempotencyKey), second);
    },
  },
  ...(['idempotencyKey', 'tokenHash'] as const).map((key): PaymentStoreCase => ({
    name: `replace: rejects where another payment has its ${key}, and nothing is written`,
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const other = await trial.insert({ [key]: unique(key) });
      const record = await trial.insert();
      const next = trial.next(record, { [key]: other[key], state: 'failed', referenceLock: unique('reference') });
      await assert.rejects(trial.store.replace(next, record.version, trial.event(next, 'failed')));
      same(await trial.find(record), record);
      same(await trial.find(other), other);
      same(await trial.versions(record), [1]);
      same(await trial.lease([handler], at(1_000)), []);
      await trial.insert({ referenceLock: next.referenceLock });
    },
  })),
  {
    name: 'copies: what a caller changes after a replace changes nothing that is stored',
    async run(trial) {
      const handler = await trial.handler('payment.unknown');
      const record = await trial.insert();
      const next = trial.next(record, { state: 'unknown', updatedAt: at(1) });
      const event = trial.event({ ...next, updatedAt: at(1), createdAt: at(0) }, 'unknown');
      assert.equal(await trial.store.replace(next, 1, event), 'replaced');
      Object.assign(event.payment, { amount: '0.01' });
      event.payment.createdAt.setTime(0);
      next.updatedAt.setTime(0);
      same((await trial.find(record))?.updatedAt, at(1));
      const [first] = await trial.lease([handler], at(2), { until: at(3) });
      same([first?.event.payment.amount, first?.event.payment.createdAt], ['149.90', at(0)]);
      Object.assign(first!.event.payment, { amount: '0.01' });
      first!.event.occurredAt.setTime(0);
      const [again] = await trial.lease([handler], at(3));
      same([again?.event.payment.amount, again?.event.occurredAt], ['149.90', at(1)]);
    },
  },
];
