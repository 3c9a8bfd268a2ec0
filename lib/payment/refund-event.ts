import type { Payment, PaymentRecord } from './payment.js';
import { type RefundEventState, REFUND_EVENT_STATES } from './payment-state.js';
import { eventIdOf } from './payment-event.js';
import { type Refund, refundedPayment, type RefundIn, toRefund } from './refund.js';

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

/** The event of a refund that has just reached its state; undefined if the state is not published. */
export function refundEventOf(record: PaymentRecord): RefundEvent | undefined {
  const refund = toRefund(record);
  if (!hasRefundEvent(refund)) return undefined;
  return newRefundEvent(refund, refundedPayment(record), eventIdOf(record));
}

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

/** Whether a refund is in a state that is published. */
export function hasRefundEvent(refund: Refund): refund is RefundIn<RefundEventState> {
  return (REFUND_EVENT_STATES as readonly string[]).includes(refund.state);
}
