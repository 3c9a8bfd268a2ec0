import { ledgerEventOf, PaymentEvent, RefundEvent } from '../../lib/payment/payment-event.js';
import { Payment, toPayment } from '../../lib/payment/payment.js';
import { Refund, saleText, toRefund } from '../../lib/payment/refund.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

describe('the event of a payment', () => {
  it.each(['succeeded', 'failed', 'expired', 'unknown', 'review'] as const)('that is %s is published', (state) => {
    const record = aPaymentRecord({ state, version: 7 });
    expect(ledgerEventOf(record)).toEqual({
      eventId: `${record.conversationId}:7`,
      type: `payment.${state}`,
      payment: toPayment(record),
      occurredAt: record.updatedAt,
    });
    expect(ledgerEventOf(record)).toBeInstanceOf(PaymentEvent);
    expect(ledgerEventOf(record)?.payment).toBeInstanceOf(Payment);
  });

  it.each(['charging', 'initiating', 'awaiting', 'authorizing', 'pending'] as const)('that is %s is not', (state) => {
    expect(ledgerEventOf(aPaymentRecord({ state }))).toBeUndefined();
  });
});

describe('the event of a refund', () => {
  const sale = aPaymentRecord({ state: 'succeeded', version: 7 });
  const refund = aPaymentRecord({ kind: 'refund', parentId: sale.conversationId, conversationId: 'BACK' });

  it.each(['succeeded', 'failed', 'unknown', 'review'] as const)('that is %s is published', (state) => {
    const record = { ...refund, state, sale: saleText(toPayment(sale)) };
    const event = ledgerEventOf(record) as RefundEvent;
    expect(event).toEqual({
      eventId: `BACK:${record.version}`,
      type: `refund.${state}`,
      refund: toRefund(record),
      payment: toPayment(sale),
      occurredAt: record.updatedAt,
    });
    expect(event).toBeInstanceOf(RefundEvent);
    expect([event.refund, event.payment]).toEqual([expect.any(Refund), expect.any(Payment)]);
  });

  it.each(['refunding', 'expired'] as const)('that is %s is not', (state) => {
    expect(ledgerEventOf({ ...refund, state })).toBeUndefined();
  });
});
