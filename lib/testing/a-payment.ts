import { isEventState, newEvent, type PaymentEvent } from '../payment/payment-event.js';
import { EVENT_STATES, type PaymentEventState, type PaymentState, rowOf } from '../payment/payment-state.js';
import { Payment, type PaymentIn, type PaymentRecord, toPayment } from '../payment/payment.js';
import { referenceLockIn } from '../payment/transitions.js';

const CREATED_AT = '2026-03-01T09:00:00.000Z';
const SESSION_MS = 3_600_000;
const CLAIM_MS = 90_000;
const FIRST_INQUIRY_MS = 15_000;

/**
 * A payment for a unit test: 149.90 lira for `order-1`, `succeeded` unless another state is given. Fields that are not
 * given are made to fit the state (`kind`, `settled`, `finalizedAt`). Fields that the gateway would add (`orderId`,
 * `code`, …) are null unless given.
 *
 * ```ts
 * await orders.markPaid(aPayment({ reference: 'order-7' }));
 * ```
 *
 * Every call returns the same payment: if a test needs two, give each a `conversationId`.
 */
export function aPayment<S extends PaymentState = 'succeeded'>(
  fields: Partial<Payment> & { readonly state?: S } = {},
): PaymentIn<NoInfer<S>> {
  return new Payment({ ...toPayment(aPaymentRecord(fields)), ...fields }) as PaymentIn<S>;
}

/**
 * The event of a payment for a unit test of a handler, `payment.succeeded` unless another state is given. Takes the
 * fields of its payment; `type`, `eventId` and `occurredAt` follow from them.
 *
 * ```ts
 * const event = aPaymentEvent({ state: 'failed', reference: 'order-7' });
 * await handler.failed(event);
 * ```
 *
 * @throws Error if the state has no event
 */
export function aPaymentEvent<S extends PaymentEventState = 'succeeded'>(
  fields: Partial<Payment> & { readonly state?: S } = {},
): PaymentEvent<NoInfer<S>> {
  const payment = aPayment<S>(fields);
  const { conversationId, version, state } = payment;
  if (!isEventState(state))
    throw new Error(`There are events of ${EVENT_STATES.join(', ')} only, not of ${String(state)}.`);
  return newEvent<S>(payment, `${conversationId}:${version}`);
}

/**
 * A payment as a store keeps it, for the test of your own store: like {@link aPayment}, with `referenceLock`,
 * `expiresAt` and `dueAt` as they fit the state.
 */
export function aPaymentRecord(fields: Partial<PaymentRecord> = {}): PaymentRecord {
  const { state = 'succeeded', reference = 'order-1', allowRepeat = false } = fields;
  const { kind = state === 'charging' ? 'direct' : '3d' } = fields;
  const { createdAt = new Date(CREATED_AT), updatedAt = createdAt } = fields;
  const { expiresAt = kind === '3d' ? later(createdAt, SESSION_MS) : null } = fields;
  return {
    conversationId: 'ABC00000000000000001',
    account: 'default',
    reference,
    kind,
    state,
    reason: null,
    amount: '149.90',
    currencyCode: 949,
    installmentCount: 1,
    chargedAmount: null,
    code: null,
    message: null,
    orderId: null,
    paymentId: null,
    bankUniqueReferenceNumber: null,
    authCode: null,
    transactionDate: null,
    transactionAt: null,
    maskedCardNumber: '450803******4509',
    commissionRate: null,
    commissionAmount: null,
    createdAt,
    updatedAt,
    finalizedAt: rowOf(state).settled ? updatedAt : null,
    version: 3,
    tokenHash: null,
    idempotencyKey: null,
    referenceLock: referenceLockIn(state, { reference, allowRepeat }),
    hostIdNonce: null,
    allowRepeat,
    expiresAt,
    dueAt: dueAtOf({ state, updatedAt, expiresAt }),
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
  return dueAt[rowOf(state).whenDue];
}

function later(date: Date, ms: number): Date {
  return new Date(date.getTime() + ms);
}
