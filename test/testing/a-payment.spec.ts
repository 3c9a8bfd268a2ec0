import { REFUND_STATES, SALE_STATES } from '../../lib/payment/states.js';
import { Payment, toPayment } from '../../lib/payment/payment.js';
import { RefundEvent } from '../../lib/payment/payment-event.js';
import { Refund, toRefund } from '../../lib/payment/refund.js';
import { aPayment, aPaymentEvent, aRefund, aRefundEvent } from '../../lib/testing/index.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const UPDATED = new Date('2026-03-01T09:00:07Z');
const SETTLED = ['succeeded', 'failed', 'expired'];

test('what is not given fits the state of a payment', () => {
  for (const state of SALE_STATES) {
    const payment = aPayment({ state, updatedAt: UPDATED });
    const settled = SETTLED.includes(state);
    expect(payment).toBeInstanceOf(Payment);
    expect(payment).toMatchObject({ state, settled, finalizedAt: settled ? UPDATED : null });
    expect(Object.keys(payment).sort()).toEqual(Object.keys(toPayment(aPaymentRecord({ state }))).sort());
  }
  const kinds = (['charging', 'pending', 'succeeded'] as const).map((state) => aPayment({ state }).kind);
  expect(kinds).toEqual(['direct', 'hosted', '3d']);
});

test('what is not given fits the state of a refund, which is of the payment that aPayment makes', () => {
  for (const state of REFUND_STATES) {
    const refund = aRefund({ state, updatedAt: UPDATED });
    const settled = SETTLED.includes(state);
    expect(refund).toBeInstanceOf(Refund);
    expect(refund).toMatchObject({ state, settled, finalizedAt: settled ? UPDATED : null });
  }
  const record = aPaymentRecord({ kind: 'refund', state: 'succeeded' });
  expect(Object.keys(aRefund()).sort()).toEqual(Object.keys(toRefund(record)).sort());
  const { conversationId, reference, account, amount } = aPayment();
  expect(aRefund()).toMatchObject({ conversationId, reference, account, kind: 'refund', amount: '49.90' });
  expect(aRefund({ kind: 'void' }).amount).toBe(amount);
});

test('an event has the id, type and time of its payment', () => {
  const fields = { state: 'failed', conversationId: 'C', version: 7, updatedAt: UPDATED } as const;
  const event = aPaymentEvent(fields);
  expect(event).toMatchObject({ eventId: 'C:7', type: 'payment.failed', occurredAt: UPDATED });
  expect(event.payment).toEqual(aPayment(fields));
  expect(aPaymentEvent().type).toBe('payment.succeeded');
});

test('the event of a refund has its id, type and time, and the payment that is given back', () => {
  const event = aRefundEvent({ state: 'failed', refundId: 'R', version: 7, updatedAt: UPDATED }, { reference: 'o-7' });
  expect(event).toBeInstanceOf(RefundEvent);
  expect(event).toMatchObject({ eventId: 'R:7', type: 'refund.failed', occurredAt: UPDATED });
  expect(event.payment).toEqual(aPayment({ reference: 'o-7' }));
  expect(event.refund).toMatchObject({ refundId: 'R', state: 'failed', reference: 'o-7' });
  expect(aRefundEvent({ conversationId: 'PAID' }).payment.conversationId).toBe('PAID');
  expect(aRefundEvent({}, { conversationId: 'PAID' }).refund.conversationId).toBe('PAID');
});

test('a state without events has none', () => {
  const only = 'There are events of succeeded, failed, expired, unknown, review only';
  expect(() => aPaymentEvent({ state: 'awaiting' as 'failed' })).toThrow(only);
  expect(() => aRefundEvent({ state: 'refunding' as 'failed' })).toThrow('succeeded, failed, unknown, review only');
});
