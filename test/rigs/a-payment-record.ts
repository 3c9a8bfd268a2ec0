import { aPayment } from '../../lib/testing/index.js';
import type { Payment, PaymentRecord } from '../../lib/payment/payment.js';
import { factsOf } from '../../lib/payment/states.js';
import { referenceLockIn } from '../../lib/payment/transitions.js';

const SESSION_MS = 3_600_000;
const CLAIM_MS = 90_000;
const FIRST_INQUIRY_MS = 15_000;

/**
 * A payment as a store keeps it: like `aPayment`, with `referenceLock`, `expiresAt` and `dueAt` as they fit the state.
 */
export function aPaymentRecord(fields: Partial<PaymentRecord> = {}): PaymentRecord {
  const { settled, stored: _stored, ...payment } = aPayment(fields as Partial<Payment>);
  const { state, kind, reference, createdAt, updatedAt } = payment;
  const { allowRepeat = false } = fields;
  const { expiresAt = kind === '3d' || kind === 'hosted' ? later(createdAt, SESSION_MS) : null } = fields;
  return {
    ...payment,
    tokenHash: null,
    idempotencyKey: null,
    referenceLock: referenceLockIn(state, { kind, reference, allowRepeat }),
    hostIdNonce: null,
    allowRepeat,
    expiresAt,
    dueAt: kind !== 'hosted' && settled ? null : dueAtOf({ state, updatedAt, expiresAt }),
    attemptId: 'attempt-1',
    inquiries: 0,
    notFoundAt: null,
    note: null,
    by: null,
    ...fields,
  };
}

/** When the background work is due: at the end of the session or of the claim, or when the gateway is asked. */
function dueAtOf({
  state,
  updatedAt,
  expiresAt,
}: Pick<PaymentRecord, 'state' | 'updatedAt' | 'expiresAt'>): Date | null {
  const dueAt = {
    expire: expiresAt,
    interrupt: later(updatedAt, CLAIM_MS),
    inquire: later(updatedAt, FIRST_INQUIRY_MS),
    nothing: null,
  };
  return dueAt[factsOf(state).whenDue];
}

function later(date: Date, ms: number): Date {
  return new Date(date.getTime() + ms);
}
