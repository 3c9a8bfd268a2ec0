import { type PaymentState, REFUND_STATES, type RefundState, SALE_STATES } from '../../lib/payment/states.js';
import { Payment, type PaymentKind, toPayment } from '../../lib/payment/payment.js';
import { RefundEvent } from '../../lib/payment/payment-event.js';
import { Refund, toRefund } from '../../lib/payment/refund.js';
import { aPayment, aPaymentEvent, aRefund, aRefundEvent } from '../../lib/testing/index.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const CREATED = new Date('2026-03-01T09:00:00Z');
const after = (ms: number) => new Date(CREATED.getTime() + ms);

/** The kind of each state, and whether it is settled, and so finalized. */
const FITTING: Readonly<Record<PaymentState, readonly [kind: PaymentKind, isSettled: boolean]>> = {
  charging: ['direct', false],
  initiating: ['3d', false],
  awaiting: ['3d', false],
  authorizing: ['3d', false],
  pending: ['hosted', false],
  succeeded: ['3d', true],
  failed: ['3d', true],
  expired: ['3d', true],
  unknown: ['3d', false],
  review: ['3d', false],
};

test.each(SALE_STATES)('what is not given fits a payment that is %s', (state) => {
  const [kind, settled] = FITTING[state];
  const payment = aPayment({ state, updatedAt: after(7) });
  expect(payment).toBeInstanceOf(Payment);
  expect(payment).toMatchObject({ kind, state, settled, finalizedAt: settled ? after(7) : null });
  expect(Object.keys(payment).sort()).toEqual(Object.keys(toPayment(aPaymentRecord({ state }))).sort());
});

test('given fields are kept', () => {
  expect(aPayment({ stored: false, code: 'B0000' })).toMatchObject({ stored: false, code: 'B0000', settled: true });
});

test('two of them share nothing that can change', () => {
  const [one, other] = [aPayment(), aPayment()];
  one.createdAt.setTime(0);
  expect(other.createdAt).toEqual(CREATED);
});

test('an event has the id, type and time of its payment', () => {
  const event = aPaymentEvent({ state: 'failed', conversationId: 'C', version: 7, updatedAt: after(9) });
  expect(event).toMatchObject({ eventId: 'C:7', type: 'payment.failed', occurredAt: after(9) });
  expect(event.payment).toEqual(aPayment({ state: 'failed', conversationId: 'C', version: 7, updatedAt: after(9) }));
  expect(aPaymentEvent().type).toBe('payment.succeeded');
});

test('a state without events has none', () => {
  const state = 'awaiting' as 'failed';
  expect(() => aPaymentEvent({ state })).toThrow(
    'There are events of succeeded, failed, expired, unknown, review only',
  );
});

/** Whether a refund in the state is settled. */
const SETTLED: Readonly<Record<RefundState, boolean>> = {
  refunding: false,
  succeeded: true,
  failed: true,
  unknown: false,
  review: false,
};

test.each(REFUND_STATES)('what is not given fits a refund that is %s', (state) => {
  const refund = aRefund({ state, updatedAt: after(7) });
  expect(refund).toBeInstanceOf(Refund);
  expect(refund).toMatchObject({ state, settled: SETTLED[state], finalizedAt: SETTLED[state] ? after(7) : null });
});

test('a refund has the fields that the module gives, and is of the payment that aPayment makes', () => {
  const record = aPaymentRecord({ kind: 'refund', state: 'succeeded' });
  expect(Object.keys(aRefund()).sort()).toEqual(Object.keys(toRefund(record)).sort());
  const { conversationId, reference, account, amount } = aPayment();
  expect(aRefund()).toMatchObject({ conversationId, reference, account, kind: 'refund', amount: '49.90' });
  expect(aRefund().refundId).not.toBe(conversationId);
  expect(aRefund({ kind: 'void' }).amount).toBe(amount);
  expect(aRefund({ stored: false, code: '00', createdAt: after(1) })).toMatchObject({
    stored: false,
    code: '00',
    updatedAt: after(1),
  });
});

test('the event of a refund has its id, type and time, and the payment that is given back', () => {
  const event = aRefundEvent({ state: 'failed', refundId: 'R', version: 7, updatedAt: after(9) }, { reference: 'o-7' });
  expect(event).toBeInstanceOf(RefundEvent);
  expect(event).toMatchObject({ eventId: 'R:7', type: 'refund.failed', occurredAt: after(9) });
  expect(event.payment).toEqual(aPayment({ reference: 'o-7' }));
  expect(event.refund).toMatchObject({ refundId: 'R', state: 'failed', reference: 'o-7' });
  const ofOther = aRefundEvent({ conversationId: 'PAID' });
  expect([ofOther.type, ofOther.payment.conversationId]).toEqual(['refund.succeeded', 'PAID']);
  expect(aRefundEvent({}, { conversationId: 'PAID' }).refund.conversationId).toBe('PAID');
});

test('a refund in a state without events has none', () => {
  const state = 'refunding' as 'failed';
  expect(() => aRefundEvent({ state })).toThrow('There are events of succeeded, failed, unknown, review only');
});
