import { newEvent, type PaymentEvent } from '../../lib/payment/payment-event.js';
import type { PaymentEventState } from '../../lib/payment/states.js';
import { type PaymentIn, type PaymentRecord, toPayment } from '../../lib/payment/payment.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

/** Stores a payment with its event; the payment has succeeded unless `over` says otherwise. */
export async function storeEvent(
  store: PaymentStore,
  conversationId: string,
  at: Date,
  over: Partial<PaymentRecord> = {},
): Promise<PaymentEvent> {
  const free = { reference: null, referenceLock: null, idempotencyKey: null };
  const record = aPaymentRecord({ state: 'succeeded', conversationId, version: 1, ...free, ...over });
  const payment = toPayment(record) as PaymentIn<PaymentEventState>;
  const event = { ...newEvent(payment, `${conversationId}:1`), occurredAt: at };
  await store.insert(record, event);
  return event;
}
