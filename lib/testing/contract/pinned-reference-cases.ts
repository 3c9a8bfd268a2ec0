import assert from 'node:assert/strict';
import type { PaymentRecord } from '../../payment/payment.js';
import { pinReference } from '../../payment/transitions.js';
import type { PaymentStore } from '../../store/payment-store.js';
import { at, type PaymentStoreCase, RACERS, type StoreTrial, tally, unique } from './store-trial.js';
import { same } from './same.js';

/** How often a race is run: what goes wrong in one order of many shows only sometimes. */
const ROUNDS = 3 * RACERS;

const declined = { state: 'failed', reason: 'declined', finalizedAt: at(1), referenceLock: null } as const;
const released = { state: 'failed', finalizedAt: at(5), referenceLock: null } as const;

/** A payment whose decline is stored, and one that was made after it and holds the reference of both. */
async function twoOfOneReference(trial: StoreTrial): Promise<{ first: PaymentRecord; holder: PaymentRecord }> {
  const reference = unique('sipariş 📌');
  const first = await trial.insert({ ...declined, reference });
  const holder = await trial.insert({ state: 'charging', reference, referenceLock: reference });
  return { first, holder };
}

/** The first payment once it is proven to have been charged, too. */
function proven(trial: StoreTrial, first: PaymentRecord): PaymentRecord {
  return pinReference(trial.next(first, { state: 'review', finalizedAt: null }));
}

async function pin(trial: StoreTrial, first: PaymentRecord, store: PaymentStore = trial.store): Promise<PaymentRecord> {
  const next = proven(trial, first);
  assert.equal(await store.replace(next, first.version, trial.event(next, 'review')), 'replaced');
  return next;
}

/** Nobody gets the reference: not a new payment, and not one that moves on. */
async function assertTaken(trial: StoreTrial, reference: string): Promise<void> {
  for (const store of [trial.store, trial.second]) {
    const fresh = trial.record({ state: 'charging', reference, referenceLock: reference });
    assert.equal(await store.insert(fresh), 'referenceLock');
    const awaiting = await trial.insert({ reference });
    const claim = trial.next(awaiting, { state: 'authorizing', referenceLock: reference });
    assert.equal(await store.replace(claim, awaiting.version), 'locked');
  }
}

/** A second payment of a reference that is proven to have been charged: the reference stays taken for good. */
export const pinnedReferenceCases: readonly PaymentStoreCase[] = [
  {
    name: 'a payment that pins a reference is written whoever holds that, with its event and its line',
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
    name: 'a pinned reference is taken before and after the payment that held it has released it',
    async run(trial) {
      const { first, holder } = await twoOfOneReference(trial);
      await pin(trial, first);
      await assertTaken(trial, holder.reference!);
      await trial.replace(holder, released);
      await assertTaken(trial, holder.reference!);
    },
  },
  {
    name: 'the payment that held a reference before it was pinned moves on without it alone',
    async run(trial) {
      const { first, holder } = await twoOfOneReference(trial);
      await pin(trial, first);
      const unknown = trial.next(holder, { state: 'unknown' });
      assert.equal(await trial.second.replace(unknown, holder.version), 'locked');
      same(await trial.find(holder), holder);
      const other = pinReference(unknown);
      assert.equal(await trial.second.replace(other, holder.version), 'replaced');
      same(await trial.find(holder), other);
      await trial.replace(other, released);
      await assertTaken(trial, holder.reference!);
    },
  },
  {
    name: 'a reference that is free is taken by who pins it, and released by nobody',
    async run(trial) {
      const reference = unique('reference');
      const first = await trial.insert({ ...declined, reference });
      await trial.replace(await pin(trial, first), released);
      await assertTaken(trial, reference);
    },
  },
  {
    name: 'a payment that pins the reference that it holds releases it no more',
    async run(trial) {
      const reference = unique('reference');
      const holder = await trial.insert({ state: 'charging', reference, referenceLock: reference });
      await trial.replace(await pin(trial, holder), released);
      await assertTaken(trial, reference);
    },
  },
  {
    name: 'a payment that pins one reference releases another that it held',
    async run(trial) {
      const [reference, other] = [unique('reference'), unique('other')];
      const first = await trial.insert({ state: 'charging', reference, referenceLock: other });
      await pin(trial, first);
      await trial.insert({ referenceLock: other });
      await assertTaken(trial, reference);
    },
  },
  ...(['succeeded', 'failed'] as const).map((state): PaymentStoreCase => ({
    name: `a reference stays taken when the payment that pinned it is resolved ${state}`,
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
    name: 'a reference stays taken when the payments of it are purged, whichever goes first',
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
    name: 'a pin that is stale changes nothing: the lock is still its holder’s',
    async run(trial) {
      const { first, holder } = await twoOfOneReference(trial);
      assert.equal(await trial.second.replace(proven(trial, { ...first, version: 2 }), 2), 'stale');
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
      assert.equal(await trial.store.insert(others), null);
      await pin(trial, first);
      await trial.replace(others, released);
      const next = trial.record({ account, reference: holder.reference, referenceLock: holder.reference });
      assert.equal(await trial.second.insert(next), null);
    },
  },
  {
    name: 'a payment that pins no reference leaves the lock to its holder, whatever is written of it',
    async run(trial) {
      const { first, holder } = await twoOfOneReference(trial);
      const unpinned = trial.next(first, { state: 'review', finalizedAt: null, pinsReference: false });
      assert.equal(await trial.store.replace(unpinned, first.version), 'replaced');
      same(await trial.find(first), unpinned);
      await trial.replace(holder, released);
      await trial.insert({ referenceLock: holder.reference });
    },
  },
  {
    name: 'of a pin and the release by the holder at once, both are written, and the reference is taken',
    async run(trial) {
      for (let round = 0; round < ROUNDS; round += 1) {
        const { first, holder } = await twoOfOneReference(trial);
        const [one, other] = [trial.racer(round), trial.racer(round + 1)];
        const outcomes = await Promise.all([
          one.replace(proven(trial, first), first.version),
          other.replace(trial.next(holder, released), holder.version),
        ]);
        same(outcomes, ['replaced', 'replaced']);
        const third = trial.record({ state: 'charging', referenceLock: holder.reference });
        assert.equal(await trial.store.insert(third), 'referenceLock');
      }
    },
  },
  {
    name: 'of a pin, a release and a new payment at once, nobody gets the reference afterwards',
    async run(trial) {
      for (let round = 0; round < ROUNDS; round += 1) {
        const { first, holder } = await twoOfOneReference(trial);
        const [one, other] = [trial.racer(round), trial.racer(round + 1)];
        const lock = { reference: holder.reference, referenceLock: holder.reference };
        const third = trial.record({ state: 'charging', ...lock });
        const [pinned, ended, opened] = await Promise.all([
          one.replace(proven(trial, first), first.version),
          other.replace(trial.next(holder, released), holder.version),
          one.insert(third),
        ]);
        same([pinned, ended], ['replaced', 'replaced']);
        // One that came before the proof may have been let through; when it ends, it releases nothing.
        if (opened === null) await trial.replace(third, released);
        assert.equal(await trial.store.insert(trial.record({ state: 'charging', ...lock })), 'referenceLock');
      }
    },
  },
  {
    name: 'of a pin, a release and a claim at once, nobody gets the reference afterwards',
    async run(trial) {
      for (let round = 0; round < ROUNDS; round += 1) {
        const { first, holder } = await twoOfOneReference(trial);
        const lock = { reference: holder.reference, referenceLock: holder.reference };
        const awaiting = await trial.insert({ reference: holder.reference });
        const claim = trial.next(awaiting, { state: 'authorizing', ...lock });
        const [one, other] = [trial.racer(round), trial.racer(round + 1)];
        const [claimed, ended, pinned] = await Promise.all([
          other.replace(claim, awaiting.version),
          one.replace(trial.next(holder, released), holder.version),
          other.replace(proven(trial, first), first.version),
        ]);
        same([pinned, ended], ['replaced', 'replaced']);
        if (claimed === 'replaced') await trial.replace(claim, { state: 'failed', referenceLock: null });
        assert.equal(await trial.store.insert(trial.record({ state: 'charging', ...lock })), 'referenceLock');
      }
    },
  },
  {
    name: `of ${RACERS} payments that pin one reference at once, all are written`,
    async run(trial) {
      const { holder } = await twoOfOneReference(trial);
      const reference = holder.reference;
      const records = await Promise.all(Array.from({ length: RACERS }, () => trial.insert({ ...declined, reference })));
      const outcomes = await trial.race((store, index) => store.replace(proven(trial, records[index]!), 1));
      same(tally(outcomes), { replaced: RACERS });
      await trial.replace(holder, released);
      await assertTaken(trial, reference!);
    },
  },
];
