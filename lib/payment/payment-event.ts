import { type Payment, type PaymentIn, type PaymentRecord, toPayment } from './payment.js';
import { type PaymentEventState, type PaymentState, rowOf } from './payment-state.js';

/** The name under which `@nestjs/event-emitter` emits. */
export type PaymentEventType = `payment.${PaymentEventState}`;

/** What an event of one state says. */
interface PaymentEventOf<S extends PaymentEventState> {
  /**
   * `conversationId:version`; where the host chose the conversationId, which it may use again one day,
   * `conversationId:version-` and random text of the payment's own. The same event always has the same id, for every
   * handler. To do a handler's work once, deduplicate by `payment.account`, the handler and this id together: alone,
   * the first handler would take the event from the second, and one account from another with the same conversationId.
   */
  readonly eventId: string;
  readonly type: `payment.${S}`;
  /** The payment as it was when this happened. */
  readonly payment: PaymentIn<S>;
  readonly occurredAt: Date;
}

/**
 * One change of a payment that a merchant may want to act upon: `PaymentEvent<'succeeded'>` is that of a payment that
 * has succeeded, and `PaymentEvent` alone any of them, told apart by `type`. It is a class as well as a type, so that
 * `instanceof` works, and so does a decorated parameter of this type.
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

/** The event of a payment that has just reached its state; undefined where that state is not published. */
export function eventOf(record: PaymentRecord): PaymentEvent | undefined {
  const payment = toPayment(record);
  if (!hasEvent(payment)) return undefined;
  return newEvent(payment, eventIdOf(record));
}

/** The event of a payment as it is now. */
export function newEvent<S extends PaymentEventState>(payment: PaymentIn<S>, eventId: string): PaymentEvent<S> {
  const { state, updatedAt } = payment;
  return new PaymentEvent({ eventId, type: `payment.${state}`, payment, occurredAt: updatedAt } as PaymentEvent<S>);
}

/** The payment stands before the last colon, and its version behind it: stores read both from there. */
export function eventIdOf({
  conversationId,
  version,
  hostIdNonce,
}: Pick<PaymentRecord, 'conversationId' | 'version' | 'hostIdNonce'>): string {
  return `${conversationId}:${version}${hostIdNonce ? `-${hostIdNonce}` : ''}`;
}

export function isEventState(state: PaymentState): state is PaymentEventState {
  return rowOf(state).published;
}

/** Whether a payment is in a state that is published. */
export function hasEvent(payment: Payment): payment is PaymentIn<PaymentEventState> {
  return isEventState(payment.state);
}
