import assert from 'node:assert/strict';
import type { PaymentRecord } from '../../../../lib/payment/payment.js';
import { pinReference } from '../../../../lib/payment/transitions.js';
import type { PaymentStore } from '../../../../lib/store/payment-store.js';
import {
  at,
  eventIds,
  ids,
  type PaymentStoreCase,
  RACERS,
  same,
  type StoreTrial,
  tally,
  unique,
} from '../store-trial.js';

/** How many times a race is run, because a flaw may show only in a certain order of events. */
const ROUNDS = 3 * RACERS;

const declined = { state: 'failed', reason: 'declined', finalizedAt: at(1), referenceLock: null } as const;
const released = { state: 'failed', finalizedAt: at(5), referenceLock: null } as const;

/** A payment that was declined, and a later one that holds the reference of both. */
async function twoOfOneReference(trial: StoreTrial): Promise<{ first: PaymentRecord; holder: PaymentRecord }> {
  const reference = unique('sipariş 📌');
  const first = await trial.insert({ ...declined, reference });
  const holder = await trial.insert({ state: 'charging', reference, referenceLock: reference });
  return { first, holder };
}

/** The next version of the first payment, after it proved to have been charged, too. */
function proven(trial: StoreTrial, first: PaymentRecord): PaymentRecord {
  return pinReference(trial.next(first, { state: 'review', finalizedAt: null }));
}

async function pin(trial: StoreTrial, first: PaymentRecord, store: PaymentStore = trial.store): Promise<PaymentRecord> {
  const next = proven(trial, first);
  assert.equal(await store.replace(next, first, trial.event(next, 'review')), 'replaced');
  return next;
}

/** No payment gets the reference: neither a new one nor one that is replaced. */
async function assertTaken(trial: StoreTrial, reference: string): Promise<void> {
  for (const store of [trial.store, trial.second]) {
    const fresh = trial.record({ state: 'charging', reference, referenceLock: reference });
    assert.equal(await store.insert(fresh), 'referenceLock');
    const awaiting = await trial.insert({ reference });
    const claim = trial.next(awaiting, { state: 'authorizing', referenceLock: reference });
    assert.equal(await store.replace(claim, awaiting), 'locked');
  }
}

/** A payment that claims a reference while another one pins it. */
interface Rival {
  /** What it writes. */
  readonly record: PaymentRecord;
  /** @returns whether it was written, with the lock */
  write(store: PaymentStore): Promise<boolean>;
}

const PIN_RACES: readonly [name: string, rivalOf?: (trial: StoreTrial, reference: string) => Promise<Rival>][] = [
  ['when a pin and the release by the holder happen at once, both are written and the reference stays taken'],
  [
    'after a pin, a release and an insert at once, no payment gets the reference',
    (trial, reference) => {
      const record = trial.record({ state: 'charging', reference, referenceLock: reference });
      return Promise.resolve({ record, write: async (store) => (await store.insert(record)) === null });
    },
  ],
  [
    'after a pin, a release and a claim at once, no payment gets the reference',
    async (trial, reference) => {
      const awaiting = await trial.insert({ reference });
      const record = trial.next(awaiting, { state: 'authorizing', referenceLock: reference });
      return { record, write: async (store) => (await store.replace(record, awaiting)) === 'replaced' };
    },
  ],
];

/** The lock of a reference: at most one payment holds it, and a pinned one stays taken for good. */
export const referenceCases: readonly PaymentStoreCase[] = [
  {
    name: 'replace answers locked while another payment holds the referenceLock, and writes nothing',
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
      assert.equal(await trial.store.replace(next, record, trial.event(next, 'review')), 'locked');

      same(await trial.find(record), record);
      same(await trial.find(holder), holder);
      same(await trial.findByIdempotencyKey(record.idempotencyKey!), record);
      assert.equal(await trial.store.findByTokenHash(trial.account, next.tokenHash!), null);
      same(await trial.versions(record), [1]);
      same(await trial.leaseDue(), []);
      same(await trial.take(handler), []);
      const unlocked = { ...next, referenceLock: null };
      assert.equal(await trial.store.replace(unlocked, record, trial.event(next, 'review')), 'replaced');
      same(eventIds(await trial.take(handler)), [`${record.conversationId}:2`]);
    },
  },
  {
    name: `only one of ${RACERS} payments that claim one referenceLock at once gets it`,
    async run(trial) {
      const lock = unique('reference');
      const records = await Promise.all(Array.from({ length: RACERS }, () => trial.insert({ reference: lock })));
      const outcomes = await trial.race((store, index) =>
        store.replace(trial.next(records[index]!, { state: 'authorizing', referenceLock: lock }), records[index]!),
      );
      same(tally(outcomes), { replaced: 1, locked: RACERS - 1 });
      const claimed = await trial.listByState(['authorizing'], RACERS);
      same(ids(claimed), [records[outcomes.indexOf('replaced')]!.conversationId]);
    },
  },
  {
    name: 'when an insert and a replace claim one referenceLock at once, only one of them gets it',
    async run(trial) {
      for (let round = 0; round < RACERS; round += 1) {
        const lock = unique('reference');
        const record = await trial.insert();
        const [inserted, replaced] = await Promise.all([
          trial.store.insert(trial.record({ referenceLock: lock })),
          trial.second.replace(trial.next(record, { referenceLock: lock }), record),
        ]);
        const both = `${inserted} ${replaced}`;
        assert.ok(both === 'null locked' || both === 'referenceLock replaced', both);
      }
    },
  },
  {
    name: 'a referenceLock stays held from version to version, and is free once it is released',
    async run(trial) {
      const lock = unique('reference');
      const first = await trial.insert();
      const second = await trial.insert();
      const reach = () => trial.store.replace(trial.next(second, { referenceLock: lock }), second);
      const claimed = await trial.replace(first, { state: 'authorizing', referenceLock: lock });
      assert.equal(await reach(), 'locked');
      const unknown = await trial.replace(claimed, { state: 'unknown' });
      assert.equal(await reach(), 'locked');
      const failed = await trial.replace(unknown, { state: 'failed', referenceLock: null });
      assert.equal(await reach(), 'replaced');
      const review = trial.next(failed, { state: 'review', referenceLock: lock });
      assert.equal(await trial.store.replace(review, failed), 'locked');
    },
  },
  {
    name: 'a payment that releases its keys takes none from a payment of another account with the same conversationId',
    async run(trial) {
      const keys = { referenceLock: unique('reference'), idempotencyKey: unique('key') };
      const record = await trial.insert(keys);
      const account = unique('other');
      await trial.put({ ...record, account });
      await trial.replace(record, { referenceLock: null, idempotencyKey: null });
      for (const key of ['referenceLock', 'idempotencyKey'] as const) {
        const second = trial.record({ account, [key]: keys[key] });
        assert.equal(await trial.second.insert(second), key);
        await trial.insert({ [key]: keys[key] });
      }
    },
  },
  {
    name: 'a payment that pins a reference is written, with its event and line of history, although another one holds it',
    async run(trial) {
      const handler = await trial.handler('payment.review');
      const { first, holder } = await twoOfOneReference(trial);
      const pinned = await pin(trial, first);
      for (const store of [trial.store, trial.second]) {
        same(await store.find(trial.account, first.conversationId), pinned);
        same(await store.find(trial.account, holder.conversationId), holder);
      }
      same(await trial.versions(first), [1, 2]);
      same(await trial.drain(handler), [`${first.conversationId}:2`]);
    },
  },
  {
    name: 'a pinned reference stays taken before and after its holder releases it',
    async run(trial) {
      const { first, holder } = await twoOfOneReference(trial);
      await pin(trial, first);
      await assertTaken(trial, holder.reference!);
      await trial.replace(holder, released);
      await assertTaken(trial, holder.reference!);
    },
  },
  {
    name: 'the holder of a reference that another payment pins can only be replaced without its referenceLock',
    async run(trial) {
      const { first, holder } = await twoOfOneReference(trial);
      await pin(trial, first);
      const unknown = trial.next(holder, { state: 'unknown' });
      assert.equal(await trial.second.replace(unknown, holder), 'locked');
      same(await trial.find(holder), holder);
      const other = pinReference(unknown);
      assert.equal(await trial.second.replace(other, holder), 'replaced');
      same(await trial.find(holder), other);
      await trial.replace(other, released);
      await assertTaken(trial, holder.reference!);
    },
  },
  ...(
    [
      ['pinning a free reference takes it, and no payment can release it', declined],
      ['a payment that pins the reference it holds can no longer release it', { state: 'charging' }],
    ] as const
  ).map(([name, fields]): PaymentStoreCase => ({
    name,
    async run(trial) {
      const reference = unique('reference');
      const record = await trial.insert({ referenceLock: reference, ...fields, reference });
      await trial.replace(await pin(trial, record), released);
      await assertTaken(trial, reference);
    },
  })),
  {
    name: 'a payment that pins one reference releases another one that it held',
    async run(trial) {
      const [reference, other] = [unique('reference'), unique('other')];
      const first = await trial.insert({ state: 'charging', reference, referenceLock: other });
      await pin(trial, first);
      await trial.insert({ referenceLock: other });
      await assertTaken(trial, reference);
    },
  },
  ...(['succeeded', 'failed'] as const).map((state): PaymentStoreCase => ({
    name: `a pinned reference stays taken when the payment that pinned it is resolved as ${state}`,
    async run(trial) {
      const { first, holder } = await twoOfOneReference(trial);
      const pinned = await pin(trial, first);
      const resolved = await trial.replace(pinned, { state, reason: 'operator', finalizedAt: at(9) });
      same(await trial.find(first), resolved);
      await trial.replace(holder, released);
      await assertTaken(trial, holder.reference!);
    },
  })),
  {
    name: 'a pinned reference stays taken when its payments are purged, whichever is purged first',
    async run(trial) {
      const { first, holder } = await twoOfOneReference(trial);
      const pinned = await pin(trial, first);
      await trial.replace(holder, released);
      trial.moveTo(1_000);
      assert.equal((await trial.purge()).payments, 1);
      await assertTaken(trial, holder.reference!);
      await trial.replace(pinned, { state: 'succeeded', finalizedAt: at(1_001) });
      trial.moveTo(2_000);
      assert.equal((await trial.purge()).payments, 1);
      await assertTaken(trial, holder.reference!);
    },
  },
  {
    name: 'a stale pin changes nothing: the holder still has the lock',
    async run(trial) {
      const { first, holder } = await twoOfOneReference(trial);
      assert.equal(
        await trial.second.replace(proven(trial, { ...first, version: 2 }), { ...first, version: 2 }),
        'stale',
      );
      same(await trial.find(first), first);
      await trial.replace(holder, released);
      await trial.insert({ referenceLock: holder.reference });
    },
  },
  {
    name: 'a reference that is pinned in one account is free in another',
    async run(trial) {
      const { first, holder } = await twoOfOneReference(trial);
      const account = unique('other');
      const others = trial.record({ account, reference: holder.reference, referenceLock: holder.reference });
      await trial.put(others);
      await pin(trial, first);
      await trial.replace(others, released);
      const next = trial.record({ account, reference: holder.reference, referenceLock: holder.reference });
      assert.equal(await trial.second.insert(next), null);
    },
  },
  {
    name: 'replacing a payment that pins nothing leaves the lock with its holder',
    async run(trial) {
      const { first, holder } = await twoOfOneReference(trial);
      const unpinned = trial.next(first, { state: 'review', finalizedAt: null, pinsReference: false });
      assert.equal(await trial.store.replace(unpinned, first), 'replaced');
      same(await trial.find(first), unpinned);
      await trial.replace(holder, released);
      await trial.insert({ referenceLock: holder.reference });
    },
  },
  ...PIN_RACES.map(([name, rivalOf]): PaymentStoreCase => ({
    name,
    async run(trial) {
      for (let round = 0; round < ROUNDS; round += 1) {
        const { first, holder } = await twoOfOneReference(trial);
        const reference = holder.reference!;
        const rival = await rivalOf?.(trial, reference);
        const [one, other] = [trial.racer(round), trial.racer(round + 1)];
        const isRivalFirst = round % 4 < 2;
        const [early, pinned, ended, late] = await Promise.all([
          isRivalFirst && rival?.write(one),
          one.replace(proven(trial, first), first),
          other.replace(trial.next(holder, released), holder),
          !isRivalFirst && rival?.write(one),
        ]);
        same([pinned, ended], ['replaced', 'replaced']);
        // A rival that came before the pin may have got the reference; when it ends, it releases nothing.
        if (rival && (early || late)) await trial.replace(rival.record, released);
        const next = trial.record({ state: 'charging', reference, referenceLock: reference });
        assert.equal(await trial.store.insert(next), 'referenceLock');
      }
    },
  })),
  {
    name: `all of ${RACERS} payments that pin one reference at once are written`,
    async run(trial) {
      const { holder } = await twoOfOneReference(trial);
      const reference = holder.reference;
      const records = await Promise.all(Array.from({ length: RACERS }, () => trial.insert({ ...declined, reference })));
      const outcomes = await trial.race((store, index) =>
        store.replace(proven(trial, records[index]!), records[index]!),
      );
      same(tally(outcomes), { replaced: RACERS });
      await trial.replace(holder, released);
      await assertTaken(trial, reference!);
    },
  },
];
