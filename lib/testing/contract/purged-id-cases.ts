import assert from 'node:assert/strict';
import type { PaymentRecord } from '../../payment/payment.js';
import { at, hostIdNonce, type PaymentStoreCase, RACERS, type StoreTrial, tally, unique } from './store-trial.js';
import { same } from './same.js';

const ROUNDS = 3 * RACERS;
const ended = { state: 'failed', finalizedAt: at(1) } as const;

/** A new payment under that conversationId, which the host gave. */
function repeat(trial: StoreTrial, { conversationId }: PaymentRecord): PaymentRecord {
  return trial.record({ conversationId, hostIdNonce: hostIdNonce(), state: 'charging' });
}

/** A payment that was purged when the clock showed 1,000. */
async function purgeOne(trial: StoreTrial, changes: Partial<PaymentRecord>): Promise<PaymentRecord> {
  const record = await trial.insert({ ...ended, ...changes });
  trial.moveTo(1_000);
  same(await trial.purge({ keysMs: 500 }), { payments: 1, events: 0 });
  return record;
}

/** conversationIds of payments that are gone. */
export const purgedIdCases: readonly PaymentStoreCase[] = [
  {
    name: 'a conversationId that the host gave outlives its payment: it stays taken, and nothing is written',
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
    name: 'a conversationId that the module made does not outlive its payment',
    async run(trial) {
      const purged = await purgeOne(trial, { hostIdNonce: null });
      assert.equal(await trial.second.insert(repeat(trial, purged)), null);
    },
  },
  {
    name: 'a conversationId outlives a payment whose record does not say who chose it: an older release wrote it',
    async run(trial) {
      const purged = await purgeOne(trial, { hostIdNonce: undefined });
      assert.equal(await trial.second.insert(repeat(trial, purged)), 'conversationId');
    },
  },
  {
    name: 'a conversationId that the host gave outlives its payment however that was changed',
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
    name: 'another conversationId, and the same one in another account or as a key, stay free',
    async run(trial) {
      const purged = await purgeOne(trial, { hostIdNonce: hostIdNonce() });
      const { conversationId } = purged;
      assert.equal(await trial.store.insert({ ...repeat(trial, purged), account: unique('other') }), null);
      const upper = { ...purged, conversationId: conversationId.toUpperCase() };
      assert.equal(await trial.store.insert(repeat(trial, upper)), null);
      assert.equal(await trial.store.findByIdempotencyKey(trial.account, conversationId), null);
      await trial.insert({ idempotencyKey: conversationId });
      const spent = unique('spent');
      await purgeOne(trial, { hostIdNonce: null, idempotencyKey: spent });
      assert.equal(await trial.store.insert(repeat(trial, { ...purged, conversationId: spent })), null);
    },
  },
  {
    name: 'a purged conversationId is taken before a purged idempotencyKey or a referenceLock',
    async run(trial) {
      const keys = { idempotencyKey: unique('key'), referenceLock: unique('reference') };
      const purged = await purgeOne(trial, { hostIdNonce: hostIdNonce(), ...keys });
      assert.equal(await trial.store.insert({ ...repeat(trial, purged), ...keys }), 'conversationId');
    },
  },
  {
    name: 'a purged conversationId is forgotten when it has been remembered long enough, and taken anew by its next payment',
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
    name: 'a payment that was refused leaves its conversationId free',
    async run(trial) {
      const referenceLock = unique('reference');
      await trial.insert({ referenceLock });
      const refused = trial.record({ hostIdNonce: hostIdNonce(), referenceLock });
      assert.equal(await trial.store.insert(refused), 'referenceLock');
      assert.equal(await trial.second.insert({ ...refused, referenceLock: null }), null);
    },
  },
  {
    name: `of ${RACERS} new payments at once with one conversationId that the host gave, one is stored`,
    async run(trial) {
      const first = trial.record();
      const records = Array.from({ length: RACERS }, () => repeat(trial, first));
      const outcomes = await trial.race((store, index) => store.insert(records[index]!));
      same(tally(outcomes), { null: 1, conversationId: RACERS - 1 });
      same(await trial.find(first), records[outcomes.indexOf(null)]);
    },
  },
  ...([hostIdNonce(), undefined] as const).map((nonce): PaymentStoreCase => ({
    name: `of a purge and repeats at once, no repeat is stored${nonce ? '' : ', where an older release wrote the payment'}`,
    async run(trial) {
      for (let round = 0; round < ROUNDS; round += 1) {
        trial.moveTo(round * 1_000);
        const record = await trial.insert({ ...ended, finalizedAt: at(round * 1_000 - 1), hostIdNonce: nonce });
        const [first, counts, second] = await Promise.all([
          trial.second.insert(repeat(trial, record)),
          trial.purge(),
          trial.second.insert(repeat(trial, record)),
        ]);
        same([first, counts.payments, second], ['conversationId', 1, 'conversationId']);
        assert.equal(await trial.find(record), null);
      }
    },
  })),
];
