import assert from 'node:assert/strict';
import { at, type PaymentStoreCase, RACERS, unique } from './store-trial.js';
import { same } from './same.js';

/** What keeps a write that was given up for lost, and lands late, from doing anything. */
export const fenceCases: readonly PaymentStoreCase[] = [
  {
    name: 'the attemptId comes back as it was, and changes with a replace',
    async run(trial) {
      const record = await trial.insert({ attemptId: 'ilk deneme', reference: unique('reference'), dueAt: at(0) });
      const read = async () => {
        const [found] = await trial.second.findByReference(trial.account, record.reference!);
        return [(await trial.find(record))?.attemptId, found?.attemptId];
      };
      same(await read(), ['ilk deneme', 'ilk deneme']);
      same((await trial.leaseDue())[0]?.attemptId, 'ilk deneme');
      await trial.replace(record, { attemptId: 'ikinci' });
      same(await read(), ['ikinci', 'ikinci']);
    },
  },
  {
    name: 'a late insert finds its conversationId taken by the failed payment in its place, and takes no key',
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
      same(await trial.store.findByIdempotencyKey(trial.account, keys.idempotencyKey), second);
    },
  },
  {
    name: 'of an insert and the failed payment that is to stand in its place, one is written',
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
    name: 'a late claim is stale once the payment has gone from awaiting to awaiting with a higher version',
    async run(trial) {
      const reference = unique('reference');
      const awaiting = await trial.insert({ reference });
      const claim = trial.next(awaiting, { state: 'authorizing', referenceLock: reference, dueAt: at(0) });
      const fenced = await trial.replace(awaiting, { state: 'awaiting' });
      assert.equal(await trial.second.replace(claim, awaiting.version), 'stale');
      same(await trial.find(awaiting), fenced);
      same(await trial.versions(awaiting), [1, 2]);
      same(await trial.leaseDue(), []);
      await trial.insert({ referenceLock: reference });
    },
  },
  {
    name: 'of a claim and the fence against it, one is written',
    async run(trial) {
      for (let round = 0; round < RACERS; round += 1) {
        const awaiting = await trial.insert();
        const claim = trial.next(awaiting, { state: 'authorizing', referenceLock: unique('reference') });
        const fence = trial.next(awaiting);
        const outcomes = await Promise.all([
          trial.store.replace(claim, awaiting.version),
          trial.second.replace(fence, awaiting.version),
        ]);
        same([...outcomes].sort(), ['replaced', 'stale']);
        same(await trial.find(awaiting), outcomes[0] === 'replaced' ? claim : fence);
      }
    },
  },
  {
    name: 'a payment that goes from authorizing back to awaiting gives its referenceLock free, and can take it again',
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
