import assert from 'node:assert/strict';
import { type PaymentRecord, toPayment } from '../../../lib/payment/payment.js';
import { saleOf } from '../../../lib/payment/refund.js';
import { MAX_SETTLED_COUNT } from '../../../lib/store/payment-store.js';
import { WHOLE } from '../../rigs/extent.js';
import {
  aPostponement,
  at,
  casesOf,
  fullFields,
  ids,
  leased,
  many,
  type StoreCases,
  same,
  type StoreTrial,
  unique,
} from './store-trial.js';

/** As long as the address of a page may be, in bytes of UTF-8, of which some letters have more than one. */
const LONGEST_URL_BYTES = 2_048;

/** The last two look alike: one has a letter of its own for Ö, the other an O and a diaeresis. */
const LOOKALIKES = ['ödeme', 'Odeme', 'ÖDEME', 'Ödeme ', ' Ödeme', '\u00d6deme', 'O\u0308deme', '"\'\\ ; --:{}'];

/** A record with a value in every field: a payment, and a refund of one. */
const FULL: Readonly<Record<'payment' | 'refund', (trial: StoreTrial) => Promise<PaymentRecord>>> = {
  payment: (trial) => Promise.resolve(trial.fullRecord()),
  refund: async (trial) => {
    const payment = await trial.put(trial.fullRecord({ state: 'succeeded', dueAt: null, finalizedAt: at(1) }));
    return trial.refund(payment, { ...fullFields(), kind: 'void', state: 'refunding' });
  },
};

/** What each method shows of a record that has every key. */
async function shown(trial: StoreTrial, record: PaymentRecord): Promise<unknown[]> {
  const { account, conversationId, parentId, tokenHash, idempotencyKey, referenceLock, reference, state } = record;
  const type = parentId === undefined ? 'payment' : 'refund';
  const found: unknown[] = [];
  for (const store of trial.stores) {
    found.push(
      await store.find(account, conversationId),
      await store.findByTokenHash(account, tokenHash!),
      await store.findByIdempotencyKey(account, type, idempotencyKey!),
      await store.findByReferenceLock(account, referenceLock!),
      ...(await (parentId === undefined
        ? store.findByReference(account, reference!)
        : store.findRefunds(account, parentId))),
      ...(await store.list({ account, type, states: [state], after: null, limit: 10 })),
      ...(await store.list({ account, type, reference: reference!, states: [state], after: null, limit: 10 })),
    );
  }
  return found.filter((one) => one !== null);
}

/** Values that come back as they were given. */
const valueCases: StoreCases = {
  ...casesOf(['payment', 'refund'] as const, (what) => [
    `every field of a ${what} comes back as it was given, in each version, whichever method finds it`,
    async (trial) => {
      const full = await FULL[what](trial);
      // A refund locks its payment, and no reference.
      const all = what === 'payment' ? 14 : 12;
      same(await shown(trial, await trial.put(full)), Array(all).fill(full));
      const emptied = trial.record({
        account: full.account,
        conversationId: full.conversationId,
        kind: full.kind,
        ...(full.parentId !== undefined && { parentId: full.parentId }),
        state: 'unknown',
        ...(full.sale && { sale: full.sale }),
      });
      const empty = await trial.replace(full, { ...emptied, hostIdNonce: full.hostIdNonce });
      // What is left of a refund is found by its payment, too.
      const left = Array(what === 'payment' ? 2 : 4).fill(empty);
      same([await trial.find(full), await shown(trial, full)], [empty, left]);
      trial.moveTo(1_000);
      same(await trial.in(full.account).leaseDue(), []);
      const again = await trial.replace(empty, { ...full, updatedAt: at(1_000) });
      same(await shown(trial, again), Array(all).fill(again));
      same(full.sale && saleOf(again), full.sale && toPayment(saleOf(full) as unknown as PaymentRecord));
      same(await trial.versions(full), [7, 8, 9]);
    },
  ]),
  ...casesOf(['payment', 'refund'] as const, (what) => [
    `an event of a ${what} is delivered, postponed, parked, listed and replayed as it was given`,
    async (trial) => {
      const full = await FULL[what](trial);
      const own = trial.in(full.account);
      const handlerId = await own.handler('payment.succeeded', 'refund.succeeded');
      const { event } = await own.publish(await own.put(full), 'succeeded', at(9));
      await own.fanOut();
      trial.moveTo(10);
      const { account } = full;
      const fresh = { account, handlerId, event, attempts: 0, parked: false, error: null, dueAt: at(99) };
      const [delivery] = await own.lease(handlerId, { lease: 'mine', leaseMs: 89, store: trial.second });
      same(delivery, fresh);
      const error = `Hata: “ş” \u0000 ${'x'.repeat(5_000)}`;
      const failed = aPostponement({ attempts: 3, error, retryInMs: 400 });
      await trial.second.postpone(leased(delivery!, 'mine'), failed);
      trial.moveTo(410);
      same(await own.lease(handlerId, { lease: 'mine', leaseMs: 90 }), [
        { ...fresh, attempts: 3, error, dueAt: at(500) },
      ]);
      await own.store.postpone(leased(delivery!, 'mine'), { ...failed, attempts: 15, parked: true, retryInMs: 5 });
      same(await own.listParked(), [{ ...fresh, attempts: 15, error, parked: true, dueAt: at(415) }]);
      trial.moveTo(1_000);
      await own.replay(handlerId, event.eventId);
      const page = { account, parked: false, after: null, limit: 10 };
      same(await own.second.listDeliveries(page), [{ ...fresh, dueAt: at(1_000) }]);
      same(await own.lease(handlerId, { leaseMs: 10 }), [{ ...fresh, dueAt: at(1_010) }]);
    },
  ]),
  'a payment at the gateway’s own page shows the page’s address until it has ended': async (trial) => {
    const start = `https://ödeme.example/sayfa/${unique('ğüş')}?🧾=`;
    const redirectUrl = start + 'x'.repeat(LONGEST_URL_BYTES - Buffer.byteLength(start));
    const opened = await trial.insert({ kind: 'hosted', state: 'initiating', redirectUrl, dueAt: at(90) });
    const pending = await trial.replace(opened, { state: 'pending', expiresAt: at(500), dueAt: at(100) });
    for (const { store } of [trial, trial.swapped]) {
      same(await store.find(pending.account, pending.conversationId), pending);
      same(await trial.list({ states: ['pending'] }, store), [pending]);
    }
    trial.moveTo(100);
    const [lease] = await trial.leaseDue({ leaseMs: 50 });
    same(lease, { ...pending, dueAt: at(150) });
    // It has ended, and is asked about again all the same.
    const changes = { redirectUrl: undefined, state: 'expired', dueAt: at(700), finalizedAt: at(600) } as const;
    const expired = await trial.replace(lease!, changes);
    same([(await trial.find(pending))?.redirectUrl, await trial.find(pending)], [undefined, expired]);
    trial.moveTo(700);
    same(ids(await trial.leaseDue()), ids([expired]));
  },
  'history has a line for each version, the oldest first': async (trial) => {
    const none = { reason: null, code: null, note: null, by: null };
    const outcome = {
      reason: 'operator',
      code: 'B\u00005',
      note: 'dedi \u0000 “ki”',
      by: 'ada@shop.example',
    } as const;
    const first = await trial.insert({ state: 'failed', ...outcome, updatedAt: at(5) });
    const second = await trial.replace(first, { state: 'review', ...none, updatedAt: at(3) });
    const third = await trial.replace(second, { reason: 'no_answer', updatedAt: at(3) });
    await trial.replace(third, { state: 'succeeded', ...outcome, updatedAt: at(4) });
    same(await trial.second.history(trial.account, first.conversationId), [
      { version: 1, state: 'failed', ...outcome, at: at(5) },
      { version: 2, state: 'review', ...none, at: at(3) },
      { version: 3, state: 'review', ...none, reason: 'no_answer', at: at(3) },
      { version: 4, state: 'succeeded', ...outcome, at: at(4) },
    ]);
  },
  'ids and keys that differ in case, spaces or accents are different ones': async (trial) => {
    const handlers = LOOKALIKES.map((text) => `${text}:${trial.account}`);
    for (const handler of handlers) await trial.announce(handler, 'payment.failed');
    const records: PaymentRecord[] = [];
    for (const text of LOOKALIKES) {
      const conversationId = `${text}:${trial.account}`;
      records.push(await trial.insert({ conversationId, idempotencyKey: text, reference: text, referenceLock: text }));
    }
    await trial.expectStored(...records);
    for (const [index, text] of LOOKALIKES.entries()) {
      same(await trial.findByReference(text), [records[index]]);
      same(await trial.store.findByIdempotencyKey(trial.account, 'payment', text), records[index]);
    }
    same(await trial.findByReference('odeme'), []);
    assert.equal(await trial.second.findByIdempotencyKey(trial.account, 'payment', 'odeme'), null);
    const { event } = await trial.publish(records[0]!, 'failed', at(1));
    for (const handler of handlers) same(await trial.drain(handler), [event.eventId]);
  },
};

const countCases: StoreCases = {
  'now() follows the clock that the store was given': async (trial) => {
    for (const ms of [0, 1, 86_400_000, -3_600_000]) {
      trial.moveTo(ms);
      for (const store of trial.stores) same(await store.now(), at(ms));
    }
  },
  // So many take half a minute on some engines.
  ...(WHOLE && {
    [`settled records are counted to ${MAX_SETTLED_COUNT}`]: async (trial: StoreTrial) => {
      for (let left = MAX_SETTLED_COUNT + 100; left > 0; left -= 100) {
        await many(100, () => trial.insert({ state: 'failed', finalizedAt: at(1) }));
      }
      assert.equal((await trial.counts()).states.failed.count, MAX_SETTLED_COUNT);
    },
  }),
};

export const recordCases: StoreCases = { ...countCases, ...valueCases };
