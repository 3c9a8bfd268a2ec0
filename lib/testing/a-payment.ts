import {
  isEventState,
  newEvent,
  newRefundEvent,
  type PaymentEvent,
  type RefundEvent,
} from '../payment/payment-event.js';
import {
  EVENT_STATES,
  type PaymentEventState,
  type PaymentState,
  REFUND_EVENT_STATES,
  type RefundEventState,
  type RefundState,
  factsOf,
} from '../payment/states.js';
import { Payment, type PaymentIn, type PaymentKind, UNANSWERED } from '../payment/payment.js';
import { Refund, type RefundIn } from '../payment/refund.js';

const CREATED_AT = '2026-03-01T09:00:00.000Z';

/** The kind of a payment in a state that only one kind, or one before all others, can have. */
const KIND_OF_STATE: Readonly<Partial<Record<PaymentState, PaymentKind>>> = { charging: 'direct', pending: 'hosted' };

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
  const state: PaymentState = fields.state ?? 'succeeded';
  const { kind = KIND_OF_STATE[state] ?? '3d' } = fields;
  const { createdAt = new Date(CREATED_AT), updatedAt = createdAt } = fields;
  const { settled } = factsOf(state);
  return new Payment({
    conversationId: 'ABC00000000000000001',
    account: 'default',
    reference: 'order-1',
    allowRepeat: false,
    kind,
    state,
    settled,
    stored: true,
    reason: null,
    amount: '149.90',
    currencyCode: 949,
    installmentCount: 1,
    ...UNANSWERED,
    maskedCardNumber: kind === 'hosted' ? null : '450803******4509',
    createdAt,
    updatedAt,
    finalizedAt: settled ? updatedAt : null,
    version: 3,
    ...fields,
  }) as PaymentIn<S>;
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
 * A refund for a unit test: 49.90 lira of the payment that {@link aPayment} makes (a void: all of it), `succeeded`
 * unless another state is given. Fields that are not given are made to fit the state (`settled`, `finalizedAt`). Fields
 * that the gateway would add (`orderId`, `code`, …) are null unless given.
 *
 * ```ts
 * await orders.moneyBack(aRefund({ state: 'unknown', amount: '20.00' }));
 * ```
 *
 * Every call returns the same refund: if a test needs two, give each a `refundId`.
 */
export function aRefund<S extends RefundState = 'succeeded'>(
  fields: Partial<Refund> & { readonly state?: S } = {},
): RefundIn<NoInfer<S>> {
  const sale = aPayment();
  const { conversationId, account, reference, currencyCode } = sale;
  const { kind = 'refund', createdAt = sale.createdAt, updatedAt = createdAt } = fields;
  const state: RefundState = fields.state ?? 'succeeded';
  const { settled } = factsOf(state);
  return new Refund({
    refundId: 'ABC00000000000000002',
    conversationId,
    account,
    reference,
    kind,
    state,
    settled,
    stored: true,
    reason: null,
    amount: kind === 'void' ? sale.amount : '49.90',
    currencyCode,
    code: null,
    message: null,
    orderId: null,
    paymentId: null,
    bankUniqueReferenceNumber: null,
    transactionDate: null,
    transactionAt: null,
    note: null,
    by: null,
    createdAt,
    updatedAt,
    finalizedAt: settled ? updatedAt : null,
    version: 2,
    ...fields,
  }) as RefundIn<S>;
}

/**
 * The event of a refund for a unit test of a handler, `refund.succeeded` unless another state is given. Takes the
 * fields of its refund, and those of the payment that is refunded; `type`, `eventId` and `occurredAt` follow from them.
 *
 * ```ts
 * const event = aRefundEvent({ state: 'failed', amount: '20.00' }, { reference: 'order-7' });
 * await handler.refundFailed(event);
 * ```
 *
 * @throws Error if the state has no event
 */
export function aRefundEvent<S extends RefundEventState = 'succeeded'>(
  fields: Partial<Refund> & { readonly state?: S } = {},
  ofPayment: Partial<Payment> = {},
): RefundEvent<NoInfer<S>> {
  const { conversationId, account, reference, currencyCode } = ofPayment;
  const shared = { conversationId, account, reference, currencyCode };
  const refund: Refund = aRefund({ ...given(shared), ...fields });
  const { refundId, version, state } = refund;
  if (!(REFUND_EVENT_STATES as readonly RefundState[]).includes(state)) {
    throw new Error(`There are events of ${REFUND_EVENT_STATES.join(', ')} only, not of ${state}.`);
  }
  const payment = aPayment({
    conversationId: refund.conversationId,
    account: refund.account,
    reference: refund.reference,
    currencyCode: refund.currencyCode,
    ...ofPayment,
  });
  return newRefundEvent(refund as RefundIn<S>, payment, `${refundId}:${version}`);
}

/** Without the fields that are undefined. */
function given<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}
