import assert from 'node:assert/strict';
import { at, ids, type PaymentStoreCase, RACERS, same, tally, unique } from '../store-trial.js';

/** Replacing a version by the next, and fences: later versions that make a lost write harmless. */
export const versionCases: readonly PaymentStoreCase[] = [
  {
    name: 'every field of a replaced payment is read back unchanged, and as null where it became null again',
    async run(trial) {
      const empty = await trial.insert({ version: 6 });
      const full = trial.fullRecord({ conversationId: empty.conversationId });
      assert.equal(await trial.store.replace(full, empty), 'replaced');
      same(await trial.find(full), full);
      const emptied = { ...empty, version: 8 };
      assert.equal(await trial.store.replace(emptied, full), 'replaced');
      same(await trial.find(full), emptied);
      assert.equal(await trial.store.findByTokenHash(trial.account, full.tokenHash!), null);
      assert.equal(await trial.findByIdempotencyKey(full.idempotencyKey!), null);
      same(await trial.findByReference(full.reference!), []);
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
    name: 'a replaced payment is listed by its new state and its new dueAt only',
    async run(trial) {
      const record = await trial.insert({ dueAt: at(1) });
      const moved = await trial.replace(record, { state: 'unknown', dueAt: at(50) });
      same(await trial.listByState(['awaiting'], 10), []);
      same(await trial.listByState(['unknown'], 10), [moved]);
      trial.moveTo(49);
      same(await trial.leaseDue(), []);
      trial.moveTo(50);
      same(ids(await trial.leaseDue()), ids([moved]));
    },
  },
  {
    name: 'replace answers stale for another version or an unknown payment, and writes nothing',
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const record = await trial.insert({ version: 2 });
      const lock = unique('reference');
      for (const expected of [1, 3]) {
        const next = { ...record, version: expected + 1, state: 'failed', dueAt: at(0), referenceLock: lock } as const;
        assert.equal(
          await trial.store.replace(next, { ...record, version: expected }, trial.event(next, 'failed')),
          'stale',
        );
      }
      const none = trial.record({ referenceLock: lock });
      assert.equal(await trial.store.replace(none, { ...none, version: 0 }, trial.event(none, 'failed')), 'stale');

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
    name: `only one of ${RACERS} concurrent replaces of one version is written, with its event and line of history`,
    async run(trial) {
      const handler = await trial.handler('payment.unknown');
      const record = await trial.insert();
      const bids = Array.from({ length: RACERS }, (_, index) =>
        trial.next(record, { state: 'unknown', code: `bid ${index}`, updatedAt: at(index) }),
      );
      const outcomes = await trial.race((store, index) =>
        store.replace(bids[index]!, record, trial.event(bids[index]!, 'unknown')),
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
    name: 'no change is lost when many callers read a payment and replace it',
    async run(trial) {
      const record = await trial.insert();
      await trial.race(async (store) => {
        for (;;) {
          const current = await store.find(trial.account, record.conversationId);
          assert.ok(current);
          const next = trial.next(current, { inquiries: current.inquiries + 1 });
          if ((await store.replace(next, current)) === 'replaced') return;
        }
      }, 8);
      const end = await trial.find(record);
      same([end?.inquiries, end?.version], [8, 9]);
      same(await trial.versions(record), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    },
  },
  {
    name: 'replace answers stale where it could also answer locked',
    async run(trial) {
      const lock = unique('reference');
      await trial.insert({ referenceLock: lock });
      const record = await trial.insert({ version: 5 });
      assert.equal(await trial.store.replace({ ...record, referenceLock: lock }, { ...record, version: 4 }), 'stale');
    },
  },
  {
    name: 'an idempotencyKey is free once its payment releases it',
    async run(trial) {
      const idempotencyKey = unique('key');
      const first = await trial.insert({ idempotencyKey });
      await trial.replace(first, { state: 'failed', reason: 'not_sent', idempotencyKey: null });
      const second = await trial.insert({ idempotencyKey });
      same(await trial.findByIdempotencyKey(idempotencyKey), second);
    },
  },
  ...(['idempotencyKey', 'tokenHash'] as const).map((key): PaymentStoreCase => ({
    name: `replace rejects a ${key} that another payment has, and writes nothing`,
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const other = await trial.insert({ [key]: unique(key) });
      const record = await trial.insert();
      const next = trial.next(record, { [key]: other[key], state: 'failed', referenceLock: unique('reference') });
      await assert.rejects(trial.store.replace(next, record, trial.event(next, 'failed')));
      same(await trial.find(record), record);
      same(await trial.find(other), other);
      same(await trial.versions(record), [1]);
      same(await trial.take(handler), []);
      await trial.insert({ referenceLock: next.referenceLock });
    },
  })),
  {
    name: 'changing an object after a replace or a lease does not change what is stored',
    async run(trial) {
      const handler = await trial.handler('payment.unknown');
      const record = await trial.insert();
      const next = trial.next(record, { state: 'unknown', updatedAt: at(1) });
      const event = trial.event({ ...next, updatedAt: at(1), createdAt: at(0) }, 'unknown');
      assert.equal(await trial.store.replace(next, record, event), 'replaced');
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
  {
    name: 'a late insert is refused by the failed payment that was written in its place, and takes no key',
    async run(trial) {
      const keys = { idempotencyKey: unique('key'), tokenHash: unique('token'), referenceLock: unique('reference') };
      const opening = trial.record({ ...keys, state: 'charging', dueAt: at(0) });
      const none = { idempotencyKey: null, tokenHash: null, referenceLock: null, dueAt: null };
      const unsent = { ...opening, ...none, state: 'failed', reason: 'not_sent', finalizedAt: at(1) } as const;
      assert.equal(await trial.second.insert(unsent), null);

      assert.equal(await trial.store.insert(opening), 'conversationId');
      same(await trial.find(opening), unsent);
      same(await trial.versions(opening), [1]);
      same(await trial.leaseDue(), []);
      const second = await trial.insert(keys);
      same(await trial.findByIdempotencyKey(keys.idempotencyKey), second);
    },
  },
  {
    name: 'when an insert and the failed payment in its place are written at once, only one of them is stored',
    async run(trial) {
      for (let round = 0; round < RACERS; round += 1) {
        const opening = trial.record({ state: 'charging', referenceLock: unique('reference') });
        const unsent = { ...opening, state: 'failed', referenceLock: null } as const;
        const outcomes = await Promise.all([trial.store.insert(opening), trial.second.insert(unsent)]);
        same([...outcomes].sort(), ['conversationId', null]);
        same(await trial.find(opening), outcomes[0] === null ? opening : unsent);
        const next = await trial.store.insert(trial.record({ referenceLock: opening.referenceLock }));
        assert.equal(next, outcomes[0] === null ? 'referenceLock' : null);
      }
    },
  },
  {
    name: 'a late claim is stale once a fence has raised the version of the awaiting payment',
    async run(trial) {
      const reference = unique('reference');
      const awaiting = await trial.insert({ reference });
      const claim = trial.next(awaiting, { state: 'authorizing', referenceLock: reference, dueAt: at(0) });
      const fenced = await trial.replace(awaiting, { state: 'awaiting' });
      assert.equal(await trial.second.replace(claim, awaiting), 'stale');
      same(await trial.find(awaiting), fenced);
      same(await trial.versions(awaiting), [1, 2]);
      same(await trial.leaseDue(), []);
      await trial.insert({ referenceLock: reference });
    },
  },
  {
    name: 'when a claim and its fence are written at once, only one of them is stored',
    async run(trial) {
      for (let round = 0; round < RACERS; round += 1) {
        const awaiting = await trial.insert();
        const claim = trial.next(awaiting, { state: 'authorizing', referenceLock: unique('reference') });
        const fence = trial.next(awaiting);
        const outcomes = await Promise.all([
          trial.store.replace(claim, awaiting),
          trial.second.replace(fence, awaiting),
        ]);
        same([...outcomes].sort(), ['replaced', 'stale']);
        same(await trial.find(awaiting), outcomes[0] === 'replaced' ? claim : fence);
      }
    },
  },
  {
    name: 'a payment that goes from authorizing back to awaiting releases its referenceLock, and can take it again',
    async run(trial) {
      const lock = unique('reference');
      const awaiting = await trial.insert({ reference: lock });
      const claimed = await trial.replace(awaiting, { state: 'authorizing', referenceLock: lock });
      const back = await trial.replace(claimed, { state: 'awaiting', referenceLock: null });
      const again = await trial.replace(back, { state: 'authorizing', referenceLock: lock });
      await trial.replace(again, { state: 'awaiting', referenceLock: null });
      await trial.insert({ referenceLock: lock });
      same(await trial.versions(awaiting), [1, 2, 3, 4, 5]);
    },
  },
];
