import assert from 'node:assert/strict';
import type { PaymentRecord } from '../../../../lib/payment/payment.js';
import type { UniqueKey } from '../../../../lib/store/payment-store.js';
import { at, ids, type PaymentStoreCase, RACERS, same, tally, unique } from '../store-trial.js';

const ALL_UNIQUE_KEYS: readonly UniqueKey[] = ['conversationId', 'idempotencyKey', 'tokenHash', 'referenceLock'];

/** As long as the address of a page may be, in bytes of UTF-8, of which some letters have more than one. */
const LONGEST_URL_BYTES = 2_048;

function longUrl(): string {
  const start = `https://ödeme.example/sayfa/${unique('ğüş')}?🧾=`;
  return start + 'x'.repeat(LONGEST_URL_BYTES - Buffer.byteLength(start));
}

/** Inserting payments and finding them. */
export const recordCases: readonly PaymentStoreCase[] = [
  {
    name: 'every field of a new payment is read back unchanged, whichever method finds it',
    async run(trial) {
      const record = trial.fullRecord();
      const { account, conversationId, tokenHash, idempotencyKey, reference } = record;
      await trial.put(record);
      for (const store of [trial.store, trial.second]) {
        same(await store.find(account, conversationId), record);
        same(await store.findByTokenHash(account, tokenHash!), record);
        same(await store.findByIdempotencyKey(account, idempotencyKey!), record);
        same(await store.findByReference(account, reference!), [record]);
        same(await store.listByState(account, ['awaiting'], 10), [record]);
      }
    },
  },
  {
    name: 'a payment at the gateway’s own page is read back unchanged, with the page’s address until it has ended',
    async run(trial) {
      const redirectUrl = longUrl();
      const kind = 'hosted';
      const opened = await trial.insert({ kind, state: 'initiating', redirectUrl, dueAt: at(90) });
      const pending = await trial.replace(opened, { state: 'pending', expiresAt: at(500), dueAt: at(100) });
      for (const store of [trial.store, trial.second]) {
        same(await store.find(pending.account, pending.conversationId), pending);
        same(await store.listByState(pending.account, ['pending'], 10), [pending]);
      }
      trial.moveTo(100);
      const [leased] = await trial.leaseDue({ leaseMs: 50 });
      same(leased, { ...pending, dueAt: at(150) });
      // It has ended, and is asked about again all the same.
      const ended = { ...trial.next(pending), redirectUrl: undefined, state: 'expired', dueAt: at(700) } as const;
      const expired = { ...ended, finalizedAt: at(600) };
      assert.equal(await trial.store.replace(expired, pending), 'replaced');
      const { redirectUrl: forgotten, ...found } = (await trial.find(pending))!;
      const { redirectUrl: _none, ...rest } = expired;
      same([forgotten, found], [undefined, rest]);
      trial.moveTo(699);
      same(await trial.leaseDue(), []);
      trial.moveTo(700);
      same(ids(await trial.leaseDue()), ids([expired]));
    },
  },
  {
    name: 'insert writes the first line of history',
    async run(trial) {
      const outcome = {
        reason: 'declined',
        code: 'B\u00005',
        note: 'dedi \u0000 “ki”',
        by: 'ada',
        updatedAt: at(5),
      } as const;
      const record = await trial.insert({ state: 'failed', version: 1, ...outcome });
      const { reason, code, note, by } = outcome;
      const line = { version: 1, state: 'failed', reason, code, note, by, at: at(5) };
      same(await trial.store.history(record.account, record.conversationId), [line]);
    },
  },
  ...ALL_UNIQUE_KEYS.map((key): PaymentStoreCase => ({
    name: `insert names a taken ${key} and writes nothing`,
    async run(trial) {
      const handler = await trial.handler('payment.failed');
      const first = await trial.insert({ [key]: unique(key), amount: '1.00' });
      const second = trial.record({ [key]: first[key], amount: '2.00', state: 'failed', dueAt: at(0) });
      const other = { ...second, tokenHash: second.tokenHash ?? unique('token'), reference: unique('reference') };
      assert.equal(await trial.store.insert(other, trial.event(other, 'failed')), key);

      same(await trial.find(first), first);
      same(await trial.versions(first), [1]);
      if (key !== 'conversationId') {
        assert.equal(await trial.find(other), null);
        same(await trial.versions(other), []);
      }
      same(await trial.findByReference(other.reference), []);
      same(await trial.listByState(['failed'], 10), []);
      same(await trial.leaseDue(), []);
      assert.equal(await trial.fanOut(), 0);
      same(await trial.lease(handler), []);
    },
  })),
  ...ALL_UNIQUE_KEYS.map((key): PaymentStoreCase => ({
    name: `only one of ${RACERS} concurrent inserts with the same ${key} is stored`,
    async run(trial) {
      const value = unique(key);
      const records = Array.from({ length: RACERS }, () => trial.record({ [key]: value, reference: 'R' }));
      const outcomes = await trial.race((store, index) => store.insert(records[index]!));
      same(tally(outcomes), { null: 1, [key]: RACERS - 1 });
      const winner = records[outcomes.indexOf(null)]!;
      same(await trial.findByReference('R'), [winner]);
      same(await trial.versions(winner), [1]);
    },
  })),
  {
    name: 'a refused payment holds none of its other keys',
    async run(trial) {
      const lock = unique('reference');
      await trial.insert({ referenceLock: lock });
      const keys = { idempotencyKey: unique('key'), tokenHash: unique('token') };
      const refused = trial.record({ ...keys, referenceLock: lock });
      assert.equal(await trial.store.insert(refused), 'referenceLock');
      await trial.put({ ...refused, referenceLock: null });
    },
  },
  {
    name: 'payments of another account may have the same keys',
    async run(trial) {
      const one = trial.fullRecord({ amount: '1.00' });
      const other = { ...one, account: unique('other'), amount: '2.00' };
      await trial.put(one);
      await trial.put(other);
      assert.equal(await trial.store.replace(trial.next(other), other), 'replaced');
      for (const record of [one, trial.next(other)]) {
        const { account, conversationId } = record;
        same(await trial.store.find(account, conversationId), record);
        same(await trial.store.findByTokenHash(account, record.tokenHash!), record);
        same(await trial.store.findByIdempotencyKey(account, record.idempotencyKey!), record);
        same(await trial.store.findByReference(account, record.reference!), [record]);
        same(await trial.store.listByState(account, ['awaiting'], 10), [record]);
      }
      same(await trial.versions(one), [7]);
      same(await trial.versions(other), [7, 8]);
      trial.moveTo(100);
      same(ids(await trial.leaseDue()), [one.conversationId]);
      const still = await trial.store.find(other.account, other.conversationId);
      same(still?.dueAt, other.dueAt);
    },
  },
  {
    name: 'nothing is found for an id or a key that no payment has',
    async run(trial) {
      const { account, store } = trial;
      await trial.insert();
      assert.equal(await store.find(account, 'none'), null);
      assert.equal(await store.findByTokenHash(account, 'none'), null);
      assert.equal(await store.findByIdempotencyKey(account, 'none'), null);
      same(await store.findByReference(account, 'none'), []);
      same(await store.listByState(account, ['review'], 10), []);
      same(await store.history(account, 'none'), []);
    },
  },
  {
    name: 'keys that differ in case, spaces or accents are different keys',
    async run(trial) {
      for (const letter of ['A', 'a']) {
        const record = await trial.insert({ conversationId: `${letter}-${trial.account}` });
        same(await trial.find(record), record);
      }
      // The last two look alike: one has a letter of its own for Ö, the other an O and a diaeresis.
      const keys = ['ödeme', 'Odeme', 'ÖDEME', 'Ödeme ', ' Ödeme', '\u00d6deme', 'O\u0308deme'];
      const records: PaymentRecord[] = [];
      for (const key of keys) {
        records.push(await trial.insert({ idempotencyKey: key, reference: key, referenceLock: key }));
      }
      for (const [index, key] of keys.entries()) {
        same(await trial.findByReference(key), [records[index]]);
        same(await trial.findByIdempotencyKey(key), records[index]);
      }
      same(await trial.findByReference('odeme'), []);
      assert.equal(await trial.findByIdempotencyKey('odeme'), null);
    },
  },
  {
    name: 'findByReference gives all payments of a reference, oldest first',
    async run(trial) {
      const reference = unique('reference');
      const second = await trial.insert({ reference, createdAt: at(20) });
      const third = await trial.insert({ reference, createdAt: at(30) });
      const first = await trial.insert({ reference, createdAt: at(10), updatedAt: at(99) });
      await trial.insert({ reference: unique('other') });
      const found = await trial.findByReference(reference);
      same(ids(found), ids([first, second, third]));
    },
  },
  {
    name: 'listByState gives only the states asked for, the longest unchanged first, up to the limit',
    async run(trial) {
      const third = await trial.insert({ state: 'unknown', updatedAt: at(30) });
      const first = await trial.insert({ state: 'review', updatedAt: at(10) });
      await trial.insert({ state: 'succeeded', updatedAt: at(0) });
      const second = await trial.insert({ state: 'unknown', updatedAt: at(20) });
      const list = async (limit: number) => ids(await trial.listByState(['unknown', 'review'], limit));
      same(await list(10), ids([first, second, third]));
      same(await list(2), ids([first, second]));
      same(await trial.listByState([], 10), []);
      const newestFirst = Array.from({ length: RACERS }, (_, index) => at(1_000 - index));
      const listed: PaymentRecord[] = [];
      for (const updatedAt of newestFirst) listed.unshift(await trial.insert({ state: 'charging', updatedAt }));
      same(ids(await trial.listByState(['charging'], 2)), ids(listed.slice(0, 2)));
    },
  },
  {
    name: 'changing an object after an insert or a find does not change what is stored',
    async run(trial) {
      const record = trial.fullRecord();
      const { account, conversationId } = record;
      const spoil = (one: PaymentRecord | 'purged' | null | undefined): void => {
        assert.ok(one && one !== 'purged');
        one.createdAt.setTime(0);
        one.dueAt?.setTime(0);
        Object.assign(one, { state: 'succeeded', amount: '0.01' });
      };
      const asked = structuredClone(record);
      const given = { ...record, createdAt: new Date(record.createdAt), dueAt: new Date(record.dueAt!) };
      await trial.put(given);
      spoil(given);
      spoil(await trial.store.find(account, conversationId));
      spoil(await trial.store.findByTokenHash(account, record.tokenHash!));
      spoil(await trial.store.findByIdempotencyKey(account, record.idempotencyKey!));
      spoil((await trial.store.findByReference(account, record.reference!))[0]);
      spoil((await trial.store.listByState(account, ['awaiting'], 1))[0]);
      (await trial.store.history(account, conversationId))[0]?.at.setTime(0);
      assert.equal(JSON.stringify(await trial.store.find(account, conversationId)), JSON.stringify(asked));
      same((await trial.store.history(account, conversationId))[0]?.at, record.updatedAt);
    },
  },
];
