import assert from 'node:assert/strict';
import { refundsAccountOf } from '../../../lib/payment/account.js';
import type { LedgerState } from '../../../lib/payment/payment-state.js';
import type { PaymentRecord } from '../../../lib/payment/payment.js';
import {
  at,
  eventIds,
  hostIdNonce,
  type PaymentStoreCase,
  RACERS,
  same,
  type StoreTrial,
  unique,
} from './store-trial.js';

/** More than a step of a purge takes. */
const MANY = 250;
const NOTHING = { payments: 0, events: 0 };
const paid = { state: 'succeeded', finalizedAt: at(10) } as const;
const gaveBack = { state: 'succeeded', finalizedAt: at(20), referenceLock: null } as const;
const gaveNothing = { ...gaveBack, state: 'failed' } as const;

const OPEN_STATES: readonly (readonly [state: LedgerState, name: string])[] = [
  ['refunding', 'refunding'],
  ['unknown', 'unknown'],
  ['review', 'in review'],
  ['settling' as LedgerState, 'in a state of a newer release'],
];

/** A settled payment and a settled refund of it. */
async function refunded(
  trial: StoreTrial,
  changes: Partial<PaymentRecord> = {},
): Promise<[PaymentRecord, PaymentRecord]> {
  const payment = await trial.insert({ ...paid, ...changes });
  return [payment, await trial.insertRefund(payment, gaveBack)];
}

/** A settled payment and a refund of it that failed, with its event. */
async function refundedWithEvent(trial: StoreTrial): Promise<[PaymentRecord, PaymentRecord]> {
  const payment = await trial.insert(paid);
  const refund = trial.refund(payment, gaveNothing);
  await trial.put(refund, trial.event(refund, 'failed'));
  return [payment, refund];
}

async function expectStored(trial: StoreTrial, ...records: readonly PaymentRecord[]): Promise<void> {
  for (const record of records) same(await trial.find(record), record);
}

/** That nothing is left of a payment and its refunds. */
async function expectGone(trial: StoreTrial, [payment, ...refunds]: readonly PaymentRecord[]): Promise<void> {
  for (const store of [trial.store, trial.second]) {
    for (const { account, conversationId } of [payment!, ...refunds]) {
      assert.equal(await store.find(account, conversationId), null);
      same(await store.history(account, conversationId), []);
    }
    same(await store.findByReference(refundsAccountOf(trial.account), payment!.conversationId), []);
  }
}

/** Deleting refunds, which stay as long as their payment does, and keep it while they are open. */
export const refundPurgeCases: readonly PaymentStoreCase[] = [
  {
    name: 'purge deletes a settled payment together with its refunds, their history and events',
    async run(trial) {
      const { refunds } = trial;
      const payer = await trial.handler('payment.succeeded');
      const handler = await refunds.handler('refund.unknown', 'refund.failed');
      const payment = await trial.insertWithEvent('succeeded', paid);
      const unknown = (await trial.publish(await trial.insertRefund(payment), 'unknown', at(15))).record;
      const failed = trial.next(unknown, gaveNothing);
      assert.equal(await trial.store.replace(failed, unknown, trial.event(failed, 'failed')), 'replaced');
      const refund = await trial.insertRefund(payment, gaveBack);
      const voided = await trial.insertRefund(payment, { ...gaveNothing, kind: 'void' });
      same([(await trial.drain(payer)).length, (await refunds.drain(handler)).length], [1, 2]);

      trial.moveTo(1_000);
      same(await trial.purge(), { payments: 1, events: 3 });
      await expectGone(trial, [payment, failed, refund, voided]);
      same(await refunds.listByState(['succeeded', 'failed']), []);
      same(await refunds.leaseDue(), []);
      same(await trial.purge(), NOTHING);
    },
  },
  ...OPEN_STATES.map(([state, name]): PaymentStoreCase => ({
    name: `purge keeps a payment with all its refunds while one of them is ${name}`,
    async run(trial) {
      const [payment, first] = await refunded(trial);
      const open = await trial.insertRefund(payment, { state });
      trial.moveTo(1_000_000);
      same(await trial.purge(), NOTHING);
      await expectStored(trial, payment, first, open);
      const done = await trial.replace(open, gaveNothing);
      same(await trial.second.purge(trial.account, { paymentsMs: 0, pairsMs: 2_000_000, keysMs: 2_000_000 }), {
        payments: 1,
        events: 0,
      });
      await expectGone(trial, [payment, first, done]);
    },
  })),
  {
    name: 'purge keeps a payment while a refund has a delivery that is open, leased, postponed or parked',
    async run(trial) {
      const { refunds } = trial;
      const handler = await refunds.handler('refund.failed');
      const [payment, refund] = await refundedWithEvent(trial);
      const expectNothingPurged = async () => {
        same(await trial.purge(), NOTHING);
        await expectStored(trial, payment, refund);
      };
      await refunds.fanOut();
      trial.moveTo(100);
      await expectNothingPurged();
      await refunds.lease(handler, { leaseMs: 100 });
      await expectNothingPurged();
      trial.moveTo(200);
      await refunds.fail(handler, { retryInMs: 100 });
      await expectNothingPurged();
      trial.moveTo(300);
      await refunds.fail(handler, { parked: true });
      await expectNothingPurged();
      const eventId = `${refund.conversationId}:1`;
      assert.equal(await refunds.replay(handler, eventId), true);
      same((await refunds.lease(handler))[0]?.event, trial.event(refund, 'failed'));
      await refunds.acknowledge(handler, eventId);
      same(await trial.purge(), { payments: 1, events: 1 });
      await expectGone(trial, [payment, refund]);
    },
  },
  {
    name: 'purge keeps a payment while an event of a refund waits to be fanned out to a handler known for refunds',
    async run(trial) {
      const [payment, refund] = await refundedWithEvent(trial);
      const handler = await trial.refunds.handler('refund.failed');
      trial.moveTo(100);
      same(await trial.purge(), NOTHING);
      await expectStored(trial, payment, refund);
      same(await trial.refunds.drain(handler), [`${refund.conversationId}:1`]);
      same(await trial.purge(), { payments: 1, events: 1 });
    },
  },
  {
    name: 'an event of a refund that no handler of refunds takes does not keep its payment, and is deleted with it',
    async run(trial) {
      const { refunds } = trial;
      // This one is of payments, and so takes no event of a refund.
      await trial.handler('refund.failed');
      await refunds.handler('refund.succeeded');
      const records = await refundedWithEvent(trial);
      trial.moveTo(100);
      same(await trial.purge(), { payments: 1, events: 1 });
      await expectGone(trial, records);
      assert.equal((await refunds.counts()).waitingEvents, 0);
      const handler = await refunds.handler('refund.failed');
      same([await refunds.fanOut(), await refunds.lease(handler)], [0, []]);
    },
  },
  {
    name: 'purging the account of refunds deletes no refund, whatever paymentsMs is',
    async run(trial) {
      const records = await refunded(trial);
      trial.moveTo(1_000_000);
      for (const paymentsMs of [null, 0]) {
        same(await trial.refunds.purge({ paymentsMs }), NOTHING);
        await expectStored(trial, ...records);
      }
      same(await trial.purge(), { payments: 1, events: 0 });
      await expectGone(trial, records);
    },
  },
  {
    name: 'purging the account of refunds forgets its pairs, which then keep no payment; purging that of payments does not',
    async run(trial) {
      await trial.refunds.handler('refund.failed');
      const records = await refundedWithEvent(trial);
      await trial.refunds.fanOut();
      trial.moveTo(1_021);
      same(await trial.purge({ pairsMs: 1_000 }), NOTHING);
      await expectStored(trial, ...records);
      same(await trial.refunds.purge({ paymentsMs: null, pairsMs: 1_000 }), NOTHING);
      same(await trial.purge(), { payments: 1, events: 1 });
    },
  },
  {
    name: 'purge deletes no refund of a payment that stays, and none of another account',
    async run(trial) {
      const gone = await refunded(trial);
      const review = await refunded(trial, { state: 'review', finalizedAt: null });
      const young = await refunded(trial, { finalizedAt: at(900) });
      const account = unique('other');
      const namesakes = gone.map((record) => ({
        ...record,
        account: record.account === trial.account ? account : refundsAccountOf(account),
      }));
      for (const record of namesakes) await trial.put(record);
      trial.moveTo(1_000);
      same(await trial.purge({ paymentsMs: 500 }), { payments: 1, events: 0 });
      await expectGone(trial, gone);
      await expectStored(trial, ...review, ...young, ...namesakes);
    },
  },
  {
    name: 'the idempotencyKey of a deleted refund, and its refundId if the host chose it, stay taken for refunds alone',
    async run(trial) {
      const { refunds } = trial;
      const payment = await trial.insert(paid);
      const idempotencyKey = unique('anahtar 🔑');
      const chosen = await trial.insertRefund(payment, { ...gaveBack, idempotencyKey, hostIdNonce: hostIdNonce() });
      const made = await trial.insertRefund(payment, { ...gaveBack, hostIdNonce: null });
      trial.moveTo(1_000);
      same(await trial.purge(), { payments: 1, events: 0 });

      const second = { conversationId: chosen.conversationId, hostIdNonce: hostIdNonce() };
      const isTaken = async () => {
        assert.equal(await refunds.findByIdempotencyKey(idempotencyKey), 'purged');
        for (const store of [trial.store, trial.second]) {
          assert.equal(await store.insert(trial.refund(payment, { idempotencyKey })), 'idempotencyKey');
          assert.equal(await store.insert(trial.refund(payment, second)), 'conversationId');
        }
      };
      await isTaken();
      assert.equal(await trial.findByIdempotencyKey(idempotencyKey), null);
      await trial.insert({ ...second, idempotencyKey });
      const again = { conversationId: made.conversationId, hostIdNonce: hostIdNonce(), referenceLock: null };
      await trial.insertRefund(payment, again);

      trial.moveTo(1_501);
      await trial.purge({ paymentsMs: null, keysMs: 500 });
      await isTaken();
      await refunds.purge({ paymentsMs: null, keysMs: 500 });
      assert.equal(await refunds.findByIdempotencyKey(idempotencyKey), null);
      await trial.insertRefund(payment, { ...second, idempotencyKey });
    },
  },
  {
    name: 'purge deletes a payment with many refunds at once, and goes on with the next',
    async run(trial) {
      const many = await trial.insert(paid);
      for (let left = MANY; left > 0; left -= 1) await trial.insertRefund(many, gaveBack);
      const next = await refunded(trial);
      trial.moveTo(1_000);
      same(await trial.purge(), { payments: 2, events: 0 });
      await expectGone(trial, [many]);
      await expectGone(trial, next);
      same(await trial.refunds.listByState(['succeeded']), []);
    },
  },
  {
    name: 'payments that stay for their refunds, however many, keep no later payment from being purged',
    async run(trial) {
      for (let left = MANY; left > 0; left -= 1) await trial.insertRefund(await trial.insert(paid));
      const later = await refunded(trial, { finalizedAt: at(11) });
      trial.moveTo(1_000);
      same(await trial.purge(), { payments: 1, events: 0 });
      await expectGone(trial, later);
      same((await trial.refunds.counts()).states.refunding.count, MANY);
    },
  },
  {
    name: 'concurrent purges delete each payment with its refunds once, and count it and the events of both once',
    async run(trial) {
      for (let left = 20; left > 0; left -= 1) {
        const payment = await trial.insertWithEvent('succeeded', paid);
        const refund = trial.refund(payment, gaveBack);
        await trial.put(refund, trial.event(refund, 'succeeded'));
      }
      trial.moveTo(1_000);
      const retention = { paymentsMs: 0, pairsMs: 1_000_000, keysMs: 1_000_000 };
      const counts = await trial.race((store) => store.purge(trial.account, retention), 4);
      counts.push(await trial.purge());
      const sum = (of: 'payments' | 'events') => counts.reduce((total, count) => total + count[of], 0);
      same([sum('payments'), sum('events')], [20, 40]);
      same(await trial.refunds.listByState(['succeeded']), []);
    },
  },
  {
    name: 'when a purge and a replace of a refund happen at once, only one of them is done',
    async run(trial) {
      for (let round = 0; round < RACERS; round += 1) {
        trial.moveTo(round * 1_000);
        const payment = await trial.insert({ ...paid, finalizedAt: at(round * 1_000 - 1) });
        const failed = await trial.insertRefund(payment, gaveNothing);
        const review = trial.next(failed, { state: 'review', finalizedAt: null });
        const [{ payments }, outcome] = await Promise.all([trial.purge(), trial.second.replace(review, failed)]);
        same([payments, outcome], outcome === 'replaced' ? [0, 'replaced'] : [1, 'stale']);
        if (outcome === 'replaced') await expectStored(trial, payment, review);
        else await expectGone(trial, [payment, failed]);
      }
    },
  },
  {
    name: 'a refund that is stored while its payment is purged is kept, and can be settled and published',
    async run(trial) {
      const handler = await trial.refunds.handler('refund.succeeded');
      for (let round = 0; round < RACERS; round += 1) {
        trial.moveTo(round * 1_000);
        const payment = await trial.insert({ ...paid, finalizedAt: at(round * 1_000 - 1) });
        const refund = trial.refund(payment, { dueAt: at(round * 1_000) });
        const [, taken] = await Promise.all([trial.purge(), trial.second.insert(refund)]);
        assert.equal(taken, null);
        await expectStored(trial, refund);
        same((await trial.refunds.leaseDue()).length, 1);
        const done = trial.next(refund, { ...gaveBack, dueAt: null });
        assert.equal(await trial.store.replace(done, refund, trial.event(done, 'succeeded')), 'replaced');
        const [delivery] = await trial.refunds.take(handler);
        same(eventIds([delivery!]), [`${refund.conversationId}:2`]);
        await trial.refunds.acknowledge(handler, delivery!.event.eventId);
      }
    },
  },
];
