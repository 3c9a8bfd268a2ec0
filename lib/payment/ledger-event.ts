import { isRefund, type PaymentRecord } from './payment.js';
import { eventOf, type PaymentEvent, type PaymentEventType } from './payment-event.js';
import { type RefundEvent, refundEventOf, type RefundEventType } from './refund-event.js';

/** An event of the ledger: of a payment, or of a refund. */
export type LedgerEvent = PaymentEvent | RefundEvent;
export type LedgerEventType = PaymentEventType | RefundEventType;

/** The event of a record that has just reached its state; undefined if the state is not published. */
export function ledgerEventOf(record: PaymentRecord): LedgerEvent | undefined {
  return isRefund(record) ? refundEventOf(record) : eventOf(record);
}
