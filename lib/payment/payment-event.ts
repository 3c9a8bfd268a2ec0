import { isRefund, type Payment, type PaymentIn, type PaymentRecord, toPayment } from './payment.js';
import { refundedPayment, type RefundIn, toRefund } from './refund.js';
import {
  EVENT_STATES,
  type LedgerState,
  type PaymentEventState,
  REFUND_EVENT_STATES,
  type RefundEventState,
  factsOf,
} from './states.js';

/** The name of an event, which is also its name in `@nestjs/event-emitter`. */
export type PaymentEventType = `payment.${PaymentEventState}`;

/** The event of reaching one state. */
interface PaymentEventOf<S extends PaymentEventState> {
  /**
   * The same for every delivery of the event, to every handler. To do a handler's work once, deduplicate by
   * `payment.account`, the handler and this id together: by the id alone, a second handler would skip the event, and so
   * would a second account with the same conversationId.
   *
   * It is `conversationId:version`. If the host chose the conversationId, `-` and random text of the payment follow,
   * since the host may use that conversationId again one day.
   */
  readonly eventId: string;
  readonly type: `payment.${S}`;
  /** The payment as it was when this happened. */
  readonly payment: PaymentIn<S>;
  readonly occurredAt: Date;
}

/**
 * A change of a payment that a merchant may want to act upon. `PaymentEvent<'succeeded'>` is the event of a payment
 * that has succeeded; `PaymentEvent` is the union of all events, told apart by `type`. It is a class as well as a type,
 * so that it can be used with `instanceof`, and for a parameter with a decorator.
 */
export type PaymentEvent<S extends PaymentEventState = PaymentEventState> = S extends unknown
  ? PaymentEventOf<S>
  : never;

interface PaymentEventClass {
  readonly prototype: PaymentEvent;
  new <S extends PaymentEventState>(fields: PaymentEvent<S>): PaymentEvent<S>;
}

export const PaymentEvent = class PaymentEvent {
  constructor(fields: object) {
    Object.assign(this, fields);
  }
} as PaymentEventClass;

/** The event of a payment in its current state. */
export function newEvent<S extends PaymentEventState>(payment: PaymentIn<S>, eventId: string): PaymentEvent<S> {
  const { state, updatedAt } = payment;
  return new PaymentEvent({ eventId, type: `payment.${state}`, payment, occurredAt: updatedAt } as PaymentEvent<S>);
}

/** Stores read the conversationId and the version from it: before and after the last colon. */
export function eventIdOf({
  conversationId,
  version,
  hostIdNonce,
}: Pick<PaymentRecord, 'conversationId' | 'version' | 'hostIdNonce'>): string {
  return `${conversationId}:${version}${hostIdNonce ? `-${hostIdNonce}` : ''}`;
}

export function isEventState(state: LedgerState): state is PaymentEventState {
  return factsOf(state).published;
}

/** The name of a refund's event, which is also its name in `@nestjs/event-emitter`. */
export type RefundEventType = `refund.${RefundEventState}`;

/** The event of reaching one state. */
interface RefundEventOf<S extends RefundEventState> {
  /**
   * The same for every delivery of the event, to every handler. To do a handler's work once, deduplicate by
   * `refund.account`, the handler and this id together. It is `refundId:version`; if the host chose the refundId, `-`
   * and random text follow, since the host may use that refundId again one day.
   */
  readonly eventId: string;
  readonly type: `refund.${S}`;
  /** The refund as it was when this happened. */
  readonly refund: RefundIn<S>;
  /** Its payment, as it was when the refund was asked for. */
  readonly payment: Payment;
  readonly occurredAt: Date;
}

/**
 * A change of a refund that a merchant may want to act upon. `RefundEvent<'succeeded'>` is the event of money that was
 * given back; `RefundEvent` is the union of all events, told apart by `type`. It is a class as well as a type, so that
 * it can be used with `instanceof`, and for a parameter with a decorator.
 */
export type RefundEvent<S extends RefundEventState = RefundEventState> = S extends unknown ? RefundEventOf<S> : never;

interface RefundEventClass {
  readonly prototype: RefundEvent;
  new <S extends RefundEventState>(fields: RefundEvent<S>): RefundEvent<S>;
}

export const RefundEvent = class RefundEvent {
  constructor(fields: object) {
    Object.assign(this, fields);
  }
} as RefundEventClass;

/** The event of a refund in its current state. */
export function newRefundEvent<S extends RefundEventState>(
  refund: RefundIn<S>,
  payment: Payment,
  eventId: string,
): RefundEvent<S> {
  const { state, updatedAt } = refund;
  return new RefundEvent({
    eventId,
    type: `refund.${state}`,
    refund,
    payment,
    occurredAt: updatedAt,
  } as RefundEvent<S>);
}

/** An event of the ledger: of a payment, or of a refund. */
export type LedgerEvent = PaymentEvent | RefundEvent;
export type LedgerEventType = PaymentEventType | RefundEventType;

/** The event of a record that has just reached its state; undefined if the state is not published. */
export function ledgerEventOf(record: PaymentRecord): LedgerEvent | undefined {
  const published: readonly LedgerState[] = isRefund(record) ? REFUND_EVENT_STATES : EVENT_STATES;
  return published.includes(record.state) ? eventOfVersion(record) : undefined;
}

/** The event of a version that was stored with one, even if its state is one of a newer release. */
export function eventOfVersion(version: PaymentRecord): LedgerEvent {
  const eventId = eventIdOf(version);
  if (!isRefund(version)) return newEvent(toPayment(version) as PaymentIn<PaymentEventState>, eventId);
  return newRefundEvent(toRefund(version) as RefundIn<RefundEventState>, refundedPayment(version), eventId);
}
