import { eventOf, PaymentEvent } from '../../lib/payment/payment-event.js';
import { Payment, toPayment } from '../../lib/payment/payment.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

describe('the event of a payment', () => {
  it.each(['succeeded', 'failed', 'expired', 'unknown', 'review'] as const)('that is %s is published', (state) => {
    const record = aPaymentRecord({ state, version: 7 });
    expect(eventOf(record)).toEqual({
      eventId: `${record.conversationId}:7`,
      type: `payment.${state}`,
      payment: toPayment(record),
      occurredAt: record.updatedAt,
    });
    expect(eventOf(record)).toBeInstanceOf(PaymentEvent);
    expect(eventOf(record)?.payment).toBeInstanceOf(Payment);
  });

  it.each(['charging', 'initiating', 'awaiting', 'authorizing'] as const)('that is %s is not', (state) => {
    expect(eventOf(aPaymentRecord({ state }))).toBeUndefined();
  });
});
