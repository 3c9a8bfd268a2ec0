import assert from 'node:assert/strict';
import { at, type PaymentStoreCase, type StoreTrial, tally, unique } from './store-trial.js';
import { same } from './same.js';

/** A payment that had the key, and was purged when the clock showed 1,000. */
async function purgeOne(trial: StoreTrial, idempotencyKey: string): Promise<void> {
  await trial.insert({ state: 'failed', finalizedAt: at(1), idempotencyKey });
  trial.moveTo(1_000);
  same(await trial.purge({ keysMs: 500 }), { payments: 1, events: 0 });
}

/** Idempotency keys of payments that are gone. */
export const purgedKeyCases: readonly PaymentStoreCase[] = [
  {
    name: 'an idempotencyKey outlives its payment: it is found as purged, and stays taken',
    async run(trial) {
      const key = unique('anahtar 🔑');
      await purgeOne(trial, key);
      for (const store of [trial.store, trial.second]) {
        assert.equal(await store.findByIdempotencyKey(trial.account, key), 'purged');
        const record = trial.record({ idempotencyKey: key, referenceLock: unique('reference') });
        assert.equal(await store.insert(record), 'idempotencyKey');
        assert.equal(await trial.find(record), null);
        same(await trial.versions(record), []);
        await trial.insert({ referenceLock: record.referenceLock });
      }
    },
  },
  {
    name: 'another key, and the same key in another account, stay free',
    async run(trial) {
      const key = unique('key');
      await purgeOne(trial, key);
      assert.equal(await trial.store.findByIdempotencyKey(trial.account, key.toUpperCase()), null);
      await trial.insert({ idempotencyKey: `${key} ` });
      const other = trial.record({ account: `${trial.account}-other`, idempotencyKey: key });
      assert.equal(await trial.store.findByIdempotencyKey(other.account, key), null);
      assert.equal(await trial.store.insert(other), null);
      same(await trial.store.findByIdempotencyKey(other.account, key), other);
    },
  },
  {
    name: 'a purged idempotencyKey is forgotten when it has been remembered long enough',
    async run(trial) {
      const key = unique('key');
      await purgeOne(trial, key);
      trial.moveTo(1_499);
      await trial.purge({ keysMs: 500 });
      assert.equal(await trial.store.findByIdempotencyKey(trial.account, key), 'purged');
      trial.moveTo(1_501);
      await trial.purge({ keysMs: 500 });
      assert.equal(await trial.store.findByIdempotencyKey(trial.account, key), null);
      const second = await trial.insert({ idempotencyKey: key });
      same(await trial.second.findByIdempotencyKey(trial.account, key), second);
    },
  },
  {
    name: 'an idempotencyKey that was purged later is still known when an older one is forgotten',
    async run(trial) {
      const [older, later] = [unique('key'), unique('key')];
      await purgeOne(trial, older);
      await trial.insert({ state: 'failed', finalizedAt: at(1), idempotencyKey: later });
      trial.moveTo(1_400);
      assert.equal((await trial.purge({ keysMs: 500 })).payments, 1);
      trial.moveTo(1_501);
      await trial.purge({ keysMs: 500 });
      assert.equal(await trial.store.findByIdempotencyKey(trial.account, older), null);
      assert.equal(await trial.store.findByIdempotencyKey(trial.account, later), 'purged');
      assert.equal(await trial.second.insert(trial.record({ idempotencyKey: later })), 'idempotencyKey');
    },
  },
  {
    name: 'many idempotencyKeys are forgotten at once',
    async run(trial) {
      const keys = Array.from({ length: 250 }, () => unique('key'));
      await trial.inChunks(keys, (idempotencyKey) =>
        trial.insert({ state: 'failed', finalizedAt: at(1), idempotencyKey }),
      );
      trial.moveTo(1_000);
      assert.equal((await trial.purge({ keysMs: 500 })).payments, keys.length);
      trial.moveTo(1_501);
      same(await trial.purge({ keysMs: 500 }), { payments: 0, events: 0 });
      const found = await trial.inChunks(keys, (key) => trial.store.findByIdempotencyKey(trial.account, key));
      same(tally(found.map((one) => one && 'purged')), { null: keys.length });
    },
  },
  {
    name: 'what is forgotten in one account is still known in another',
    async run(trial) {
      const key = unique('key');
      const account = unique('other');
      const others = trial.record({ account, state: 'failed', finalizedAt: at(1), idempotencyKey: key });
      assert.equal(await trial.store.insert(others), null);
      await purgeOne(trial, key);
      const retention = { paymentsMs: 0, pairsMs: 1_000_000, keysMs: 1_000_000 };
      same(await trial.store.purge(account, retention), { payments: 1, events: 0 });
      trial.moveTo(1_501);
      await trial.purge({ keysMs: 500 });
      assert.equal(await trial.store.findByIdempotencyKey(trial.account, key), null);
      assert.equal(await trial.store.findByIdempotencyKey(account, key), 'purged');
      assert.equal(await trial.second.insert(trial.record({ account, idempotencyKey: key })), 'idempotencyKey');
    },
  },
  {
    name: 'keys are forgotten even where payments are kept for good',
    async run(trial) {
      const key = unique('key');
      await purgeOne(trial, key);
      trial.moveTo(1_501);
      await trial.purge({ paymentsMs: null, keysMs: 500 });
      assert.equal(await trial.store.findByIdempotencyKey(trial.account, key), null);
    },
  },
  {
    name: 'the key of a payment that is still there is never forgotten',
    async run(trial) {
      const record = await trial.insert({ idempotencyKey: unique('key') });
      trial.moveTo(1_000_000);
      await trial.purge({ keysMs: 1 });
      same(await trial.store.findByIdempotencyKey(trial.account, record.idempotencyKey!), record);
      const second = trial.record({ idempotencyKey: record.idempotencyKey });
      assert.equal(await trial.store.insert(second), 'idempotencyKey');
    },
  },
  {
    name: 'a released idempotencyKey does not outlive its payment',
    async run(trial) {
      const idempotencyKey = unique('key');
      const record = await trial.insert({ idempotencyKey });
      await trial.replace(record, { state: 'failed', finalizedAt: at(1), idempotencyKey: null });
      trial.moveTo(1_000);
      assert.equal((await trial.purge()).payments, 1);
      assert.equal(await trial.store.findByIdempotencyKey(trial.account, idempotencyKey), null);
      await trial.insert({ idempotencyKey });
    },
  },
];
