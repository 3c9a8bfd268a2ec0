import assert from 'node:assert/strict';
import type { PaymentRecord } from '../../../lib/payment/payment.js';
import { at, hostIdNonce, type PaymentStoreCase, RACERS, same, type StoreTrial, tally, unique } from './store-trial.js';

const ROUNDS = 3 * RACERS;
const ended = { state: 'failed', finalizedAt: at(1) } as const;

/** A new payment with the same conversationId, chosen by the host. */
function repeat(trial: StoreTrial, { conversationId }: PaymentRecord): PaymentRecord {
  return trial.record({ conversationId, hostIdNonce: hostIdNonce(), state: 'charging' });
}

/** Stores a payment and purges it 1,000 ms after the start. */
async function purgeOne(trial: StoreTrial, changes: Partial<PaymentRecord>): Promise<PaymentRecord> {
  const record = await trial.insert({ ...ended, ...changes });
  trial.moveTo(1_000);
  same(await trial.purge({ keysMs: 500 }), { payments: 1, events: 0 });
  return record;
}

/** Idempotency keys and conversationIds of purged payments. */
export const purgedKeyCases: readonly PaymentStoreCase[] = [
  {
    name: 'the idempotencyKey of a purged payment is found as purged, and stays taken',
    async run(trial) {
      const key = unique('anahtar 🔑');
      await purgeOne(trial, { idempotencyKey: key });
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
    name: 'purging a payment leaves other keys free, and the same key in another account',
    async run(trial) {
      const key = unique('key');
      await purgeOne(trial, { idempotencyKey: key });
      assert.equal(await trial.findByIdempotencyKey(key.toUpperCase()), null);
      await trial.insert({ idempotencyKey: `${key} ` });
      const other = trial.record({ account: `${trial.account}-other`, idempotencyKey: key });
      assert.equal(await trial.store.findByIdempotencyKey(other.account, key), null);
      await trial.put(other);
      same(await trial.store.findByIdempotencyKey(other.account, key), other);
    },
  },
  {
    name: 'a purged idempotencyKey is forgotten after keysMs',
    async run(trial) {
      const key = unique('key');
      await purgeOne(trial, { idempotencyKey: key });
      trial.moveTo(1_499);
      await trial.purge({ keysMs: 500 });
      assert.equal(await trial.findByIdempotencyKey(key), 'purged');
      trial.moveTo(1_501);
      await trial.purge({ keysMs: 500 });
      assert.equal(await trial.findByIdempotencyKey(key), null);
      const second = await trial.insert({ idempotencyKey: key });
      same(await trial.second.findByIdempotencyKey(trial.account, key), second);
    },
  },
  {
    name: 'an idempotencyKey that was purged later is still known when an older one is forgotten',
    async run(trial) {
      const [older, later] = [unique('key'), unique('key')];
      await purgeOne(trial, { idempotencyKey: older });
      await trial.insert({ ...ended, idempotencyKey: later });
      trial.moveTo(1_400);
      assert.equal((await trial.purge({ keysMs: 500 })).payments, 1);
      trial.moveTo(1_501);
      await trial.purge({ keysMs: 500 });
      assert.equal(await trial.findByIdempotencyKey(older), null);
      assert.equal(await trial.findByIdempotencyKey(later), 'purged');
      assert.equal(await trial.second.insert(trial.record({ idempotencyKey: later })), 'idempotencyKey');
    },
  },
  {
    name: 'a key that is forgotten in one account is still known in another',
    async run(trial) {
      const key = unique('key');
      const account = unique('other');
      const others = trial.record({ account, state: 'failed', finalizedAt: at(1), idempotencyKey: key });
      await trial.put(others);
      await purgeOne(trial, { idempotencyKey: key });
      const retention = { paymentsMs: 0, pairsMs: 1_000_000, keysMs: 1_000_000 };
      same(await trial.store.purge(account, retention), { payments: 1, events: 0 });
      trial.moveTo(1_501);
      await trial.purge({ keysMs: 500 });
      assert.equal(await trial.findByIdempotencyKey(key), null);
      assert.equal(await trial.store.findByIdempotencyKey(account, key), 'purged');
      assert.equal(await trial.second.insert(trial.record({ account, idempotencyKey: key })), 'idempotencyKey');
    },
  },
  {
    name: 'the key of a payment that is still there is never forgotten',
    async run(trial) {
      const record = await trial.insert({ idempotencyKey: unique('key') });
      trial.moveTo(1_000_000);
      await trial.purge({ keysMs: 1 });
      same(await trial.findByIdempotencyKey(record.idempotencyKey!), record);
      const second = trial.record({ idempotencyKey: record.idempotencyKey });
      assert.equal(await trial.store.insert(second), 'idempotencyKey');
    },
  },
  {
    name: 'an idempotencyKey that was released before the purge is free',
    async run(trial) {
      const idempotencyKey = unique('key');
      const record = await trial.insert({ idempotencyKey });
      await trial.replace(record, { state: 'failed', finalizedAt: at(1), idempotencyKey: null });
      trial.moveTo(1_000);
      assert.equal((await trial.purge()).payments, 1);
      assert.equal(await trial.findByIdempotencyKey(idempotencyKey), null);
      await trial.insert({ idempotencyKey });
    },
  },
  {
    name: 'the conversationId of a purged payment stays taken where the host chose it, and nothing is written',
    async run(trial) {
      const purged = await purgeOne(trial, { conversationId: unique('kimlik 🪪'), hostIdNonce: hostIdNonce() });
      for (const store of [trial.store, trial.second]) {
        const keys = { idempotencyKey: unique('key'), tokenHash: unique('token'), referenceLock: unique('reference') };
        const again = { ...repeat(trial, purged), ...keys, dueAt: at(0) };
        assert.equal(await store.insert(again), 'conversationId');
        assert.equal(await store.find(trial.account, purged.conversationId), null);
        same(await trial.versions(again), []);
        same(await trial.leaseDue(), []);
        await trial.insert(keys);
      }
    },
  },
  {
    name: 'the conversationId of a purged payment is free where the module made it',
    async run(trial) {
      const purged = await purgeOne(trial, { hostIdNonce: null });
      assert.equal(await trial.second.insert(repeat(trial, purged)), null);
    },
  },
  {
    name: 'the conversationId of a purged payment stays taken where its record, of an older release, does not say who chose it',
    async run(trial) {
      const purged = await purgeOne(trial, { hostIdNonce: undefined });
      assert.equal(await trial.second.insert(repeat(trial, purged)), 'conversationId');
    },
  },
  {
    name: 'the conversationId of a purged payment stays taken where the host chose it, however the payment was changed',
    async run(trial) {
      const idempotencyKey = unique('key');
      const record = await trial.insert({ hostIdNonce: hostIdNonce(), idempotencyKey, state: 'charging' });
      const unknown = await trial.replace(record, { state: 'unknown', message: '"hostIdNonce":null' });
      await trial.replace(unknown, { ...ended, idempotencyKey: null });
      trial.moveTo(1_000);
      assert.equal((await trial.purge()).payments, 1);
      assert.equal(await trial.store.insert(repeat(trial, record)), 'conversationId');
      await trial.insert({ idempotencyKey });
    },
  },
  {
    name: 'purging a payment leaves other conversationIds free, and the same text in another account or as a key',
    async run(trial) {
      const purged = await purgeOne(trial, { hostIdNonce: hostIdNonce() });
      const { conversationId } = purged;
      await trial.put({ ...repeat(trial, purged), account: unique('other') });
      const upper = { ...purged, conversationId: conversationId.toUpperCase() };
      assert.equal(await trial.store.insert(repeat(trial, upper)), null);
      assert.equal(await trial.findByIdempotencyKey(conversationId), null);
      await trial.insert({ idempotencyKey: conversationId });
      const spent = unique('spent');
      await purgeOne(trial, { hostIdNonce: null, idempotencyKey: spent });
      assert.equal(await trial.store.insert(repeat(trial, { ...purged, conversationId: spent })), null);
    },
  },
  {
    name: 'a purged conversationId is forgotten after keysMs, and remembered again when its next payment is purged',
    async run(trial) {
      const purged = await purgeOne(trial, { hostIdNonce: hostIdNonce() });
      trial.moveTo(1_499);
      await trial.purge({ paymentsMs: null, keysMs: 500 });
      assert.equal(await trial.store.insert(repeat(trial, purged)), 'conversationId');
      trial.moveTo(1_501);
      await trial.purge({ paymentsMs: null, keysMs: 500 });
      const again = { ...repeat(trial, purged), ...ended };
      assert.equal(await trial.second.insert(again), null);
      same(await trial.find(again), again);
      trial.moveTo(5_000);
      assert.equal((await trial.purge()).payments, 1);
      assert.equal(await trial.store.insert(repeat(trial, purged)), 'conversationId');
    },
  },
  {
    name: 'the conversationId of a payment that is still there is never forgotten',
    async run(trial) {
      const record = await trial.insert({ ...ended, hostIdNonce: hostIdNonce() });
      trial.moveTo(1_000_000);
      await trial.purge({ paymentsMs: null, keysMs: 1 });
      trial.moveTo(1_000_100);
      assert.equal((await trial.purge({ keysMs: 1_000 })).payments, 1);
      assert.equal(await trial.store.insert(repeat(trial, record)), 'conversationId');
    },
  },
  {
    name: `only one of ${RACERS} concurrent inserts with a conversationId that the host chose is stored`,
    async run(trial) {
      const first = trial.record();
      const records = Array.from({ length: RACERS }, () => repeat(trial, first));
      const outcomes = await trial.race((store, index) => store.insert(records[index]!));
      same(tally(outcomes), { null: 1, conversationId: RACERS - 1 });
      same(await trial.find(first), records[outcomes.indexOf(null)]);
    },
  },
  ...([hostIdNonce(), undefined] as const).map((nonce): PaymentStoreCase => ({
    name: `no repeat of a payment is stored while it is purged${nonce ? '' : ', where an older release wrote the payment'}`,
    async run(trial) {
      for (let round = 0; round < ROUNDS; round += 1) {
        trial.moveTo(round * 1_000);
        const record = await trial.insert({ ...ended, finalizedAt: at(round * 1_000 - 1), hostIdNonce: nonce });
        const [first, counts, second] = await Promise.all([
          trial.second.insert(repeat(trial, record)),
          trial.purge(),
          trial.second.insert(repeat(trial, record)),
        ]);
        // A repeat may have locked the payment for a moment: the next purge deletes it then.
        const { payments: late } = await trial.purge();
        same([first, counts.payments + late, second], ['conversationId', 1, 'conversationId']);
        assert.equal(await trial.find(record), null);
      }
    },
  })),
];
