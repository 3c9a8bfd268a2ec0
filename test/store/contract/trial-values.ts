import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { types } from 'node:util';
import type { PaymentRecord } from '../../../lib/payment/payment.js';
import type { Delivery, LeasedDelivery, Postponement } from '../../../lib/store/payment-store.js';

const START = Date.parse('2026-03-01T10:00:00.123Z');

/** The time this many milliseconds after the start of a case. */
export function at(ms: number): Date {
  return new Date(START + ms);
}

export function unique(name: string): string {
  return `${name}-${randomUUID()}`;
}

/** The nonce that a record has if the host chose its conversationId. */
export function hostIdNonce(): string {
  return randomBytes(6).toString('hex');
}

/** A value for each field that a careless store would change. */
export function fullFields(): Partial<PaymentRecord> {
  return {
    reference: unique('sipariş "1" \'2\' \\ ; -- 🧾'),
    reason: 'amount_mismatch',
    amount: '999999999999999.99',
    installmentCount: 12,
    chargedAmount: '0.10',
    code: 'B0000',
    message: `İşlem “onaylandı” 🟢\t\n\\"'{}[]$1 %s \u0000 \u2028 ${'çok uzun '.repeat(20_000)}`,
    orderId: '00012345678901234567890',
    paymentId: '9007199254740993',
    bankUniqueReferenceNumber: '1e400',
    authCode: '007',
    transactionDate: '01.03.2026 13:00:00',
    transactionAt: at(1),
    maskedCardNumber: '450803******4509',
    commissionRate: '1.50',
    commissionAmount: '2.2485',
    createdAt: at(2),
    updatedAt: at(999),
    finalizedAt: at(4),
    version: 7,
    tokenHash: unique('token'),
    idempotencyKey: unique('key'),
    referenceLock: unique('kilit 🔒'),
    allowRepeat: true,
    expiresAt: at(5),
    dueAt: at(6),
    attemptId: unique('deneme №'),
    inquiries: 3,
    notFoundAt: at(7),
    note: "Aradık; banka 'çekildi' dedi.",
    pinsReference: false,
    hostIdNonce: hostIdNonce(),
  };
}

/** A delivery under this lease. */
export function leased({ account, handlerId, event }: Delivery, lease: string): LeasedDelivery {
  return { account, handlerId, eventId: event.eventId, lease };
}

/** A first failed attempt, after which the delivery is due again in a second. */
export function aPostponement(changes: Partial<Postponement> = {}): Postponement {
  return { attempts: 1, error: 'Error: no', retryInMs: 1_000, parked: false, ...changes };
}

export function ids(records: readonly PaymentRecord[]): string[] {
  return records.map((record) => record.conversationId);
}

export function eventIds(deliveries: readonly Delivery[]): string[] {
  return deliveries.map((delivery) => delivery.event.eventId);
}

/** How often each outcome occurred. */
export function tally(outcomes: readonly (string | null)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) counts[`${outcome}`] = (counts[`${outcome}`] ?? 0) + 1;
  return counts;
}

/**
 * Asserts that two values are deeply equal. A test runner may use a realm whose `Array` differs from that of the
 * driver's rows; this difference is ignored.
 */
export function same(actual: unknown, expected: unknown): void {
  assert.deepEqual(ofThisRealm(actual), ofThisRealm(expected));
}

function ofThisRealm(value: unknown): unknown {
  if (types.isDate(value)) return new Date(value.getTime());
  if (Array.isArray(value)) return Array.from(value, ofThisRealm);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, ofThisRealm(of)]));
}
