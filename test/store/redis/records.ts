import type { PaymentEvent } from '../../../lib/payment/payment-event.js';
import { type PaymentRecord, toPayment } from '../../../lib/payment/payment.js';
import { aPaymentEvent, aPaymentRecord } from '../../../lib/testing/index.js';

export const T0 = new Date('2026-01-02T03:04:05.678Z');

let ids = 0;

/** A payment of its own whose buyer is at the bank. */
export function awaiting(fields: Partial<PaymentRecord> = {}): PaymentRecord {
  return aPaymentRecord({
    conversationId: `payment-${++ids}`,
    state: 'awaiting',
    reference: null,
    version: 1,
    createdAt: T0,
    dueAt: null,
    ...fields,
  });
}

/** The same one version on, with its event. */
export function succeeded(record: PaymentRecord): [PaymentRecord, PaymentEvent] {
  const next: PaymentRecord = {
    ...record,
    state: 'succeeded',
    version: record.version + 1,
    finalizedAt: T0,
    dueAt: null,
  };
  return [next, aPaymentEvent({ ...toPayment(next), state: 'succeeded' })];
}

/** A payment of its own that ended at once, with its event. */
export function settled(fields: Partial<PaymentRecord> = {}): [PaymentRecord, PaymentEvent] {
  return succeeded({ ...awaiting(fields), version: 0 });
}

/** A payment of its own whose outcome nobody knows, with its event. */
export function unknown(): [PaymentRecord, PaymentEvent] {
  const record = awaiting({ state: 'unknown' });
  return [record, aPaymentEvent({ ...toPayment(record), state: 'unknown' })];
}

/** What `replace` takes, to write one version on. */
export function replacing([next, event]: [PaymentRecord, PaymentEvent]): [PaymentRecord, number, PaymentEvent] {
  return [next, next.version - 1, event];
}
