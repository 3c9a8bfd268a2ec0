import assert from 'node:assert/strict';
import { MAX_WAIT_MS, type PurgeCounts } from '../../../lib/store/payment-store.js';
import { at, many, type StoreCases, same, unique } from './store-trial.js';

/** More than a step of a purge takes. */
const MANY = 250;
const NOTHING: PurgeCounts = { payments: 0, events: 0, unheard: 0 };
const ONE: PurgeCounts = { payments: 1, events: 0, unheard: 0 };
const paid = { state: 'succeeded', finalizedAt: at(10) } as const;
const failed = { state: 'failed', finalizedAt: at(20), referenceLock: null } as const;

/** Deleting payments, with their refunds, and pairs that are no longer announced. */
export const purgeCases: StoreCases = {
  'purge deletes a payment and its refunds with all that shows them, and nothing of another account with the same ids':
    async (trial) => {
      const other = trial.in();
      const full = trial.fullRecord({ state: 'authorizing', finalizedAt: null, dueAt: null });
      const refund = trial.refund(full, { tokenHash: unique('token'), idempotencyKey: unique('key') });
      for (const here of [trial, other]) {
        const [payment, back] = [
          { ...full, account: here.account },
          { ...refund, account: here.account },
        ];
        for (const record of [payment, back]) {
          const unknown = await here.publish(await here.put(record), 'unknown', at(5));
          await here.replace(unknown.record, { ...failed, updatedAt: at(10) });
        }
      }
      trial.moveTo(2 * MAX_WAIT_MS);
      same(await trial.purge(), { payments: 1, events: 2, unheard: 2 });
      for (const { account, store } of [trial, other]) {
        const left = account === other.account ? 1 : 0;
        const found = [
          ...(await store.findByReference(account, full.reference!)),
          ...(await store.findRefunds(account, full.conversationId)),
          ...(await store.listSettled({ account, from: at(0), to: at(99), after: null, limit: 10 })),
        ];
        for (const [type, record] of [
          ['payment', full],
          ['refund', refund],
        ] as const) {
          found.push(
            ...[await store.find(account, record.conversationId)].filter((one) => one !== null),
            ...[await store.findByTokenHash(account, record.tokenHash!)].filter((one) => one !== null),
            ...(await store.list({ account, type, states: ['failed'], after: null, limit: 10 })),
            ...(await store.list({ account, type, after: null, limit: 10 })),
          );
          same((await store.history(account, record.conversationId)).length, 3 * left);
        }
        same(found.length, 12 * left);
        same((await store.counts(account)).waitingEvents, 2 * left);
      }
    },
  'the key of a deleted refund, and its id if the host chose it, stay taken for a while, the key for refunds alone':
    async (trial) => {
      const payment = await trial.insert(paid);
      const names = { hostIdNonce: '09382017465f', idempotencyKey: unique('anahtar 🔑') };
      const { conversationId } = await trial.insertRefund(payment, { ...failed, ...names });
      const made = await trial.insertRefund(payment, { ...failed, hostIdNonce: null });
      trial.moveTo(1_000);
      same(await trial.purge(), ONE);
      const other = await trial.insert(paid);
      const byKey = (type: 'payment' | 'refund') =>
        trial.second.findByIdempotencyKey(trial.account, type, names.idempotencyKey);
      same([await byKey('refund'), await byKey('payment')], ['purged', null]);
      for (const [changes, key] of [
        [{ idempotencyKey: names.idempotencyKey }, 'idempotencyKey'],
        [{ conversationId, hostIdNonce: names.hostIdNonce }, 'conversationId'],
      ] as const) {
        assert.equal(await trial.store.insert(trial.refund(other, { ...failed, ...changes })), key);
      }
      await trial.insert({ ...names });
      await trial.insertRefund(other, { ...failed, conversationId: made.conversationId });
      trial.moveTo(2_000);
      await trial.purge({ paymentsMs: null, keysMs: 500 });
      same(await byKey('refund'), null);
      await trial.insertRefund(other, { ...failed, conversationId, ...names });
    },
  'a refund is stored only while its payment is, and only if that is a payment': async (trial) => {
    const payment = await trial.insert(paid);
    const refund = await trial.insertRefund(payment, failed);
    const missing = [trial.record({ state: 'succeeded' }), refund, { ...payment, account: trial.in().account }];
    for (const parent of missing) {
      const orphan = trial.refund(parent);
      assert.equal(await trial.store.insert(orphan), 'parentId');
      await trial.expectGone(orphan);
    }
    trial.moveTo(1_000);
    same(await trial.purge(), ONE);
    assert.equal(await trial.second.insert(trial.refund(payment)), 'parentId');
  },
  'however many payments, refunds and deliveries there are, purge deletes those that it should, and no others': async (
    trial,
  ) => {
    await trial.handler('refund.failed');
    await many(MANY, async () => trial.insertRefund(await trial.insert(paid)));
    same(await trial.purge(), NOTHING);
    const one = await trial.insert(paid);
    await many(MANY, () => trial.insertRefund(one, failed));
    await many(MANY, () => trial.putWithEvent(trial.record(failed)));
    const handler = await trial.handler('payment.failed');
    same(await trial.fanOut(), MANY);
    trial.moveTo(1_001);
    same(await trial.purge({ pairsMs: 1_000 }), { payments: MANY + 1, events: MANY, unheard: 0 });
    await trial.expectGone(one);
    same([(await trial.counts()).openDeliveries, await trial.take(handler)], [0, []]);
    same((await trial.counts()).refunds.refunding.count, MANY);
  },
};
