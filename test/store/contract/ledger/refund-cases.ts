import assert from 'node:assert/strict';
import { refundsAccountOf } from '../../../../lib/payment/account.js';
import { toPayment } from '../../../../lib/payment/payment.js';
import { saleOf, saleText } from '../../../../lib/payment/refund.js';
import { at, fullFields, ids, type PaymentStoreCase, RACERS, same, tally } from '../store-trial.js';

const paid = { state: 'succeeded', finalizedAt: at(1) } as const;
const ended = { finalizedAt: at(5), referenceLock: null } as const;

/** Refunds: records of an account of their own, which are found by their payment, and hold its lock while open. */
export const refundCases: readonly PaymentStoreCase[] = [
  {
    name: 'a refund comes back as it was given, with its payment as that was, in each of its versions',
    async run(trial) {
      const payment = trial.fullRecord(paid);
      const { conversationId: reference } = payment;
      const full = { ...fullFields(), reference, referenceLock: reference, tokenHash: null, finalizedAt: null };
      const refund = trial.refund(payment, { ...full, kind: 'void', by: 'Ayşe "iade" 🧾' });
      await trial.put(refund);
      const expectStored = async (record: typeof refund) => {
        for (const store of [trial.store, trial.second]) {
          const found = await store.find(record.account, record.conversationId);
          same(found, record);
          same(saleOf(found!), toPayment(payment));
        }
      };
      await expectStored(refund);
      await expectStored(await trial.replace(refund, { ...ended, state: 'succeeded', updatedAt: at(1_000) }));
      same(await trial.versions(refund), [7, 8]);
    },
  },
  {
    name: 'a payment and a refund with the same ids and keys are two records, and each account finds its own',
    async run(trial) {
      const payment = trial.fullRecord({ state: 'unknown', finalizedAt: null, dueAt: at(0) });
      const sale = saleText(toPayment(payment));
      const refund = { ...payment, account: refundsAccountOf(payment.account), kind: 'refund', sale } as const;
      for (const record of [payment, refund]) await trial.put(record);
      for (const record of [payment, refund]) {
        const { account, conversationId, tokenHash, idempotencyKey, reference } = record;
        for (const store of [trial.store, trial.second]) {
          same(await store.find(account, conversationId), record);
          same(await store.findByTokenHash(account, tokenHash!), record);
          same(await store.findByIdempotencyKey(account, idempotencyKey!), record);
          same(await store.findByReference(account, reference!), [record]);
          same(await store.listByState(account, ['unknown'], 10), [record]);
          assert.equal((await store.counts(account)).states.unknown.count, 1);
        }
      }
      const leased = { dueAt: at(60_000) };
      same(await trial.refunds.leaseDue(), [{ ...refund, ...leased }]);
      same(await trial.leaseDue(), [{ ...payment, ...leased }]);
      const failed = await trial.replace(refund, { ...ended, state: 'failed', idempotencyKey: null });
      same(await trial.find(refund), failed);
      same(await trial.find(payment), { ...payment, ...leased });
      same([await trial.versions(refund), await trial.versions(payment)], [[7, 8], [7]]);
      same(await trial.findByIdempotencyKey(payment.idempotencyKey!), { ...payment, ...leased });
      assert.equal(await trial.store.insert(trial.record({ referenceLock: payment.referenceLock })), 'referenceLock');
    },
  },
  {
    name: `only one of ${RACERS} refunds of a payment that are opened at once is stored`,
    async run(trial) {
      const payment = await trial.insert(paid);
      const refunds = Array.from({ length: RACERS }, () => trial.refund(payment));
      const outcomes = await trial.race((store, index) => store.insert(refunds[index]!));
      same(tally(outcomes), { null: 1, referenceLock: RACERS - 1 });
      same(await trial.refunds.findByReference(payment.conversationId), [refunds[outcomes.indexOf(null)]]);
    },
  },
  ...(['refunding', 'unknown', 'review'] as const).map((state): PaymentStoreCase => ({
    name: `while a refund is ${state}, no second one of its payment is stored; once it has succeeded or failed, one is`,
    async run(trial) {
      for (const end of ['succeeded', 'failed'] as const) {
        const payment = await trial.insert(paid);
        const opened = await trial.insertRefund(payment);
        const open = state === 'refunding' ? opened : await trial.replace(opened, { state });
        const next = trial.refund(payment);
        for (const store of [trial.store, trial.second]) assert.equal(await store.insert(next), 'referenceLock');
        await trial.insertRefund(await trial.insert(paid));
        await trial.replace(open, { ...ended, state: end });
        assert.equal(await trial.second.insert(next), null);
        same(await trial.find(next), next);
      }
    },
  })),
  {
    name: 'findByReference gives all refunds of a payment, the oldest createdAt first, and none of another',
    async run(trial) {
      const payment = await trial.insert(paid);
      const other = await trial.insert({ ...paid, reference: payment.conversationId });
      const refundedAt = async (ms: number) => {
        const refund = await trial.insertRefund(payment, { createdAt: at(ms) });
        return trial.replace(refund, { ...ended, state: 'succeeded', updatedAt: at(100 - ms) });
      };
      const [third, first, second] = [await refundedAt(30), await refundedAt(10), await refundedAt(20)];
      const others = await trial.insertRefund(other);
      const open = await trial.insertRefund(payment, { createdAt: at(40) });
      for (const store of [trial.store, trial.second]) {
        const { account } = first;
        same(await store.findByReference(account, payment.conversationId), [first, second, third, open]);
        same(ids(await store.findByReference(account, other.conversationId)), [others.conversationId]);
        same(await store.findByReference(trial.account, payment.conversationId), [other]);
      }
    },
  },
];
