import type { LedgerEvent } from '../payment/ledger-event.js';
import { PaymentEvent } from '../payment/payment-event.js';
import { Payment, type PaymentHistoryEntry, type PaymentRecord } from '../payment/payment.js';
import { Refund } from '../payment/refund.js';
import { RefundEvent } from '../payment/refund-event.js';

const PAYMENT_DATES = ['transactionAt', 'createdAt', 'updatedAt', 'finalizedAt'] as const satisfies (keyof Payment)[];

const RECORD_DATES = [...PAYMENT_DATES, 'expiresAt', 'dueAt', 'notFoundAt'] as const satisfies (keyof PaymentRecord)[];

/** A record as JSON text. Dates are ISO 8601 in UTC, to the millisecond. */
export function recordToJson(record: PaymentRecord): string {
  return JSON.stringify(record);
}

/** The record that {@link recordToJson} wrote. */
export function recordFromJson(json: string): PaymentRecord {
  return withDates(JSON.parse(json) as PaymentRecord, RECORD_DATES);
}

/** A copy that shares no object with the record. It is equal to one made through JSON, in a third of the time. */
export function copyRecord(record: PaymentRecord): PaymentRecord {
  return withOwnDates(record, RECORD_DATES);
}

/** An event as JSON text. */
export function eventToJson(event: LedgerEvent): string {
  return JSON.stringify(event);
}

/** The event that {@link eventToJson} wrote. */
export function eventFromJson(json: string): LedgerEvent {
  const event = withDates(JSON.parse(json) as LedgerEvent, ['occurredAt']);
  const payment = new Payment(withDates<Payment>(event.payment, PAYMENT_DATES));
  if (!('refund' in event)) return new PaymentEvent({ ...event, payment } as PaymentEvent);
  const refund = new Refund(withDates<Refund>(event.refund, PAYMENT_DATES));
  return new RefundEvent({ ...event, refund, payment } as RefundEvent);
}

/** A copy that shares no object with the event. */
export function copyEvent(event: LedgerEvent): LedgerEvent {
  const occurredAt = new Date(event.occurredAt);
  const payment = new Payment(withOwnDates<Payment>(event.payment, PAYMENT_DATES));
  if (!('refund' in event)) return new PaymentEvent({ ...event, payment, occurredAt } as PaymentEvent);
  const refund = new Refund(withOwnDates<Refund>(event.refund, PAYMENT_DATES));
  return new RefundEvent({ ...event, refund, payment, occurredAt } as RefundEvent);
}

/** A line of history as JSON text. */
export function historyToJson(entry: PaymentHistoryEntry): string {
  return JSON.stringify(entry);
}

/** The line that {@link historyToJson} wrote. */
export function historyFromJson(json: string): PaymentHistoryEntry {
  const entry = JSON.parse(json) as Omit<PaymentHistoryEntry, 'by'> & Pick<PaymentRecord, 'by'>;
  return withDates<PaymentHistoryEntry>({ ...entry, by: entry.by ?? null }, ['at']);
}

/** The line of history of a record, which is stored with it. */
export function historyEntryOf(record: PaymentRecord): PaymentHistoryEntry {
  const { version, state, reason, code, note, by = null, updatedAt } = record;
  return { version, state, reason, code, note, by, at: updatedAt };
}

/** The parsed object, with these fields changed from JSON's text to dates. */
function withDates<T extends object>(parsed: T, names: readonly (keyof T)[]): T {
  const dates = names.map((name) => {
    const text = parsed[name];
    return [name, typeof text === 'string' ? new Date(text) : null] as const;
  });
  return { ...parsed, ...Object.fromEntries(dates) };
}

/** Each copy has dates of its own, because a date cannot be frozen. */
function withOwnDates<T extends object>(source: T, names: readonly (keyof T)[]): T {
  const copy = { ...source };
  for (const name of names) {
    const date = source[name];
    if (date instanceof Date) copy[name] = new Date(date) as T[keyof T];
  }
  return copy;
}
