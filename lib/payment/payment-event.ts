import { type Payment, type PaymentRecord, toPayment } from './payment.js';
import { type PaymentEventState, type PaymentState, rowOf } from './payment-state.js';

/** The name under which `@nestjs/event-emitter` emits. */
export type PaymentEventType = `payment.${PaymentEventState}`;

/** One change of a payment that a merchant may want to act upon. */
export class PaymentEvent {
  /**
   * `conversationId:version`; where the host chose the conversationId, which it may use again one day,
   * `conversationId:version-` and random text of the payment's own. The same event always has the same id, for every handler. To do a handler's work
   * once, deduplicate by `payment.account`, the handler and this id together: alone, the first handler would take the
   * event from the second, and one account from another with the same conversationId.
   */
  readonly eventId!: string;
  readonly type!: PaymentEventType;
  /** The payment as it was when this happened. */
  readonly payment!: Payment;
  readonly occurredAt!: Date;

  constructor(fields: PaymentEvent) {
    Object.assign(this, fields);
  }
}

/** The event of a payment that has just reached its state; undefined where that state is not published. */
export function eventOf(record: PaymentRecord): PaymentEvent | undefined {
  if (!isEventState(record.state)) return undefined;
  return new PaymentEvent({
    eventId: eventIdOf(record),
    type: `payment.${record.state}`,
    payment: toPayment(record),
    occurredAt: record.updatedAt,
  });
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
