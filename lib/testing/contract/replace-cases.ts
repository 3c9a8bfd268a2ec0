import assert from 'node:assert/strict';
import { at, ids, type PaymentStoreCase, RACERS, tally, unique } from './store-trial.js';
import { same } from './same.js';

/** Compare-and-set, and what is written along. */
export const replaceCases: readonly PaymentStoreCase[] = [
  {
    name: 'every field of a replaced payment comes back as it was, and null where it is null again',
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
      trial.moveTo(1_000);
      same(await trial.leaseDue(), []);
    },
  },
  {
    name: 'history has every change, oldest first',
    async run(trial) {
      const first = await trial.insert({ updatedAt: at(1) });
      const second = await trial.replace(first, { state: 'authorizing', updatedAt: at(2) });
      const third = await trial.replace(second, { state: 'unknown', reason: 'no_answer', updatedAt: at(3) });
      await trial.replace(third, {
        state: 'succeeded',
        reason: 'operator',
        code: 'B0000',
        note: 'ok',
        by: 'ada@shop.example',
        updatedAt: at(3),
      });
      same(await trial.second.history(trial.account, first.conversationId), [
        { version: 1, state: 'awaiting', reason: null, code: null, note: null, by: null, at: at(1) },
        { version: 2, state: 'authorizing', reason: null, code: null, note: null, by: null, at: at(2) },
        { version: 3, state: 'unknown', reason: 'no_answer', code: null, note: null, by: null, at: at(3) },
        {
          version: 4,
          state: 'succeeded',
          reason: 'operator',
          code: 'B0000',
          note: 'ok',
          by: 'ada@shop.example',
          at: at(3),
        },
      ]);
    },
  },
  {
    name: 'a replaced payment is listed where it is now, and nowhere else',
    async run(trial) {
      const record = await trial.insert({ dueAt: at(1) });
      const moved = await trial.replace(record, { state: 'unknown', dueAt: at(50) });
      same(await trial.store.listByState(trial.account, ['awaiting'], 10), []);
      same(await trial.store.listByState(trial.account, ['unknown'], 10), [moved]);
      trial.moveTo(49);
      same(await trial.leaseDue(), []);
      trial.moveTo(50);
      same(ids(await trial.leaseDue()), ids([moved]));
    },
  },
  {
    name: 'replace is stale for another version or an unknown payment, and writes nothing',
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
      same(await trial.leaseDue(), []);
      same(await trial.take(handler), []);
      await trial.insert({ referenceLock: lock });
    },
  },
  {
    name: `of ${RACERS} replaces at once from one version, one is written, with its event and its line`,
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
      const delivered = await trial.take(handler);
      same(
        delivered.map(({ event }) => event),
        [trial.event(winner, 'unknown')],
      );
    },
  },
  {
    name: 'of many changes to one payment, each made from what was read, none is lost',
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
    name: 'replace is stale before it is locked',
    async run(trial) {
      const lock = unique('reference');
      await trial.insert({ referenceLock: lock });
      const record = await trial.insert({ version: 5 });
      assert.equal(await trial.store.replace({ ...record, referenceLock: lock, version: 5 }, 4), 'stale');
    },
  },
  {
    name: 'an idempotencyKey is free once its payment releases it',
    async run(trial) {
      const idempotencyKey = unique('key');
      const first = await trial.insert({ idempotencyKey });
      await trial.replace(first, { state: 'failed', reason: 'not_sent', idempotencyKey: null });
      const second = await trial.insert({ idempotencyKey });
      same(await trial.store.findByIdempotencyKey(trial.account, idempotencyKey), second);
    },
  },
  ...(['idempotencyKey', 'tokenHash'] as const).map((key): PaymentStoreCase => ({
    name: `replace rejects where another payment has its ${key}, and writes nothing`,
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const other = await trial.insert({ [key]: unique(key) });
      const record = await trial.insert();
      const next = trial.next(record, { [key]: other[key], state: 'failed', referenceLock: unique('reference') });
      await assert.rejects(trial.store.replace(next, record.version, trial.event(next, 'failed')));
      same(await trial.find(record), record);
      same(await trial.find(other), other);
      same(await trial.versions(record), [1]);
      same(await trial.take(handler), []);
      await trial.insert({ referenceLock: next.referenceLock });
    },
  })),
  {
    name: 'what a caller changes after a replace or a lease changes nothing that is stored',
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
      const [first] = await trial.take(handler, { leaseMs: 3 });
      same([first?.event.payment.amount, first?.event.payment.createdAt], ['149.90', at(0)]);
      Object.assign(first!.event.payment, { amount: '0.01' });
      first!.event.occurredAt.setTime(0);
      trial.moveTo(3);
      const [again] = await trial.lease(handler);
      same([again?.event.payment.amount, again?.event.occurredAt], ['149.90', at(1)]);
    },
  },
];
