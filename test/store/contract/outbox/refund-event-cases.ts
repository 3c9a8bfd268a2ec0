import assert from 'node:assert/strict';
import type { PaymentRecord } from '../../../../lib/payment/payment.js';
import { REFUND_EVENT_STATES } from '../../../../lib/payment/payment-state.js';
import { at, eventIds, fullFields, type PaymentStoreCase, same, type StoreTrial } from '../store-trial.js';

const paid = { state: 'succeeded', finalizedAt: at(1) } as const;
const TYPES = ['refund.unknown', 'refund.succeeded'] as const;

/** Stores a refund that becomes `unknown` and then `succeeded`. @returns the ids of both events */
async function refundTwice(trial: StoreTrial, payment: PaymentRecord): Promise<[string, string]> {
  const refund = await trial.insertRefund(payment, { referenceLock: null });
  const unknown = await trial.publish(refund, 'unknown', at(1));
  const succeeded = await trial.publish(unknown.record, 'succeeded', at(2));
  return [unknown.event.eventId, succeeded.event.eventId];
}

/** Events of refunds, each of which shows the refund and its payment, in the account of the refunds. */
export const refundEventCases: readonly PaymentStoreCase[] = [
  {
    name: 'an event of a refund is delivered, parked and listed as it was given: its refund, its payment and their dates',
    async run(trial) {
      const payment = trial.fullRecord(paid);
      const { conversationId: reference } = payment;
      const full = { ...fullFields(), reference, referenceLock: reference, tokenHash: null, transactionAt: at(77) };
      const refund = trial.refund(payment, { ...full, by: 'Ayşe' });
      await trial.put(refund);
      const { event } = await trial.publish(refund, 'succeeded', at(9));
      const { refunds } = trial;
      const handler = await refunds.handler('refund.succeeded');
      const lease = 'mine';
      const [delivery, ...more] = await refunds.take(handler, { lease, store: trial.second });
      const fresh = { account: refunds.account, handlerId: handler, event, attempts: 0, parked: false, error: null };
      same([delivery, ...more], [{ ...fresh, dueAt: at(60_000) }]);
      await refunds.postpone(delivery!, lease, { attempts: 2, error: 'E', parked: true, retryInMs: 5 });
      same(await refunds.listParked(), [{ ...fresh, attempts: 2, error: 'E', parked: true, dueAt: at(5) }]);
    },
  },
  {
    name: 'the events of a refund reach a handler in the order of its versions, whatever version its payment has',
    async run(trial) {
      const handler = await trial.refunds.handler(...TYPES);
      for (const version of [1, 50]) {
        const [first, second] = await refundTwice(trial, await trial.insert({ ...paid, version }));
        same(eventIds(await trial.refunds.take(handler, { leaseMs: 10 })), [first]);
        same(await trial.refunds.lease(handler), []);
        await trial.refunds.acknowledge(handler, first);
        same(eventIds(await trial.refunds.lease(handler, { store: trial.second })), [second]);
        await trial.refunds.acknowledge(handler, second);
        same(await trial.refunds.take(handler), []);
      }
    },
  },
  {
    name: 'the events of a refund delay neither those of another refund of its payment nor those of the payment',
    async run(trial) {
      const { refunds } = trial;
      const handler = await refunds.handler(...TYPES);
      await trial.announce(handler, 'payment.succeeded');
      const payment = await trial.insert({ state: 'charging' });
      const [one] = await refundTwice(trial, payment);
      const [other] = await refundTwice(trial, payment);
      same(eventIds(await refunds.take(handler)).sort(), [one, other].sort());
      const { event } = await trial.publish(payment, 'succeeded', at(3));
      same(eventIds(await trial.take(handler)), [event.eventId]);
    },
  },
  {
    name: 'the same handler id and type in the accounts of payments and of refunds get each the events of its own account',
    async run(trial) {
      const { refunds } = trial;
      const types = ['payment.succeeded', 'refund.succeeded'] as const;
      const handler = await trial.handler(...types);
      await refunds.announce(handler, ...types);
      const paying = await trial.publish(await trial.insert({ state: 'charging' }), 'succeeded', at(1));
      const refunding = await trial.publish(await trial.insertRefund(paying.record), 'succeeded', at(2));
      same([await trial.fanOut(), await refunds.fanOut()], [1, 1]);
      same(eventIds(await trial.lease(handler)), [paying.event.eventId]);
      same(eventIds(await refunds.lease(handler)), [refunding.event.eventId]);
    },
  },
  {
    name: 'a delivery of a refund is listed, replayed and acknowledged in the account of the refunds alone',
    async run(trial) {
      const { refunds } = trial;
      const handler = await trial.handler('refund.failed');
      await refunds.announce(handler, 'refund.failed');
      const refund = await trial.insertRefund(await trial.insert(paid));
      const { eventId } = (await trial.publish(refund, 'failed', at(1))).event;
      await refunds.fail(handler, { parked: true });
      same([await trial.listParked(), eventIds(await refunds.listParked())], [[], [eventId]]);
      assert.equal(await trial.replay(handler, eventId), false);
      await trial.acknowledge(handler, eventId);
      assert.equal(await refunds.replay(handler, eventId), true);
      same(await refunds.drain(handler), [eventId]);
    },
  },
  {
    name: 'counts shows the events and deliveries of refunds in the account of the refunds alone',
    async run(trial) {
      const { refunds } = trial;
      const numbers = async (of: StoreTrial) => {
        const { waitingEvents, openDeliveries, parkedDeliveries } = await of.counts();
        return [waitingEvents, openDeliveries, parkedDeliveries];
      };
      for (const state of REFUND_EVENT_STATES) {
        await trial.publish(await trial.insertRefund(await trial.insert(paid)), state, at(1));
      }
      const all = REFUND_EVENT_STATES.length;
      same(
        [await numbers(refunds), await numbers(trial)],
        [
          [all, 0, 0],
          [0, 0, 0],
        ],
      );
      const handler = await refunds.handler('refund.failed');
      await refunds.fanOut();
      same(await numbers(refunds), [all - 1, 1, 0]);
      await refunds.fail(handler, { parked: true });
      same(
        [await numbers(refunds), await numbers(trial)],
        [
          [all - 1, 0, 1],
          [0, 0, 0],
        ],
      );
    },
  },
];
