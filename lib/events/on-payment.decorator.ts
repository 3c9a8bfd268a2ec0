import { DEFAULT_ACCOUNT } from '../payment/account.js';
import type { PaymentEvent, RefundEvent } from '../payment/payment-event.js';
import type { PaymentEventState, RefundEventState } from '../payment/states.js';

const METADATA = 'nestjs-card-payment:on-payment';

/** Options of `@OnPayment` and `@OnRefund`. */
export interface OnPaymentOptions {
  /**
   * The id under which deliveries are acknowledged; keep it when the class or method is renamed. Default
   * `Class.method`.
   */
  readonly id?: string;
  /** The account whose payments or refunds it handles. Default: the unnamed one. */
  readonly name?: string;
  /** How many calls of this handler may run at once in this instance. Default 10. */
  readonly concurrency?: number;
  /**
   * After how many milliseconds a call counts as failed, and another may begin in its place; the call itself is not
   * stopped. By default there is no limit.
   */
  readonly timeoutMs?: number;
}

/** One `@OnPayment` or `@OnRefund` on one method. */
export interface HandlerMetadata {
  readonly of: 'payment' | 'refund';
  readonly states: readonly PaymentEventState[];
  readonly id: string | null;
  readonly account: string;
  readonly concurrency: number;
  readonly timeoutMs: number | null;
}

const DEFAULT_CONCURRENCY = 10;

/**
 * Checks that the method accepts all of its events, even without `strictFunctionTypes`, which new projects of NestJS 11
 * do not set.
 */
type Taking<Event, Handler extends (event: never) => unknown> =
  [Event] extends Parameters<Handler> ? unknown : { 'the handler must take': Event };

/** Can be applied to a method that takes nothing, or each of these events. */
export interface HandlerDecorator<Event> {
  <Handler extends () => unknown>(
    prototype: object,
    name: string | symbol,
    descriptor: TypedPropertyDescriptor<Handler>,
  ): void;
  <Handler extends (event: Event) => unknown>(
    prototype: object,
    name: string | symbol,
    descriptor: TypedPropertyDescriptor<Handler> & Taking<Event, Handler>,
  ): void;
}

/** Can be applied to a method that takes nothing, or the event of each of these states. */
export type OnPaymentDecorator<S extends PaymentEventState> = HandlerDecorator<PaymentEvent<S>>;
/** Can be applied to a method that takes nothing, or the event of each of these states. */
export type OnRefundDecorator<S extends RefundEventState> = HandlerDecorator<RefundEvent<S>>;

/**
 * Marks a method of a singleton provider as a handler of payments that reach a state. It is called at least once for
 * each event, even after a crash, and again with back-off until it returns. Deduplicate by `payment.account`, the
 * handler's id and `eventId`, in the transaction that does the work. A payment's events arrive in order. An event whose
 * handler keeps failing is parked until an operator replays it; a handler that hangs does not delay the others.
 *
 * @example
 * ```ts
 * @OnPayment('succeeded')
 * async paid({ eventId, payment }: PaymentEvent<'succeeded'>) { … }
 * ```
 */
export function OnPayment<S extends PaymentEventState>(
  states: S | readonly S[],
  options: OnPaymentOptions = {},
): OnPaymentDecorator<S> {
  return markHandler('payment', states, options);
}

/**
 * Marks a method of a singleton provider as a handler of refunds and voids that reach a state; the same as
 * {@link OnPayment}, which never gets one. Deduplicate by `refund.account`, the handler's id and `eventId`.
 *
 * @example
 * ```ts
 * @OnRefund('succeeded')
 * async refunded({ eventId, refund, payment }: RefundEvent<'succeeded'>) { … }
 * ```
 */
export function OnRefund<S extends RefundEventState>(
  states: S | readonly S[],
  options: OnPaymentOptions = {},
): OnRefundDecorator<S> {
  return markHandler('refund', states, options);
}

function markHandler(
  of: HandlerMetadata['of'],
  states: PaymentEventState | readonly PaymentEventState[],
  options: OnPaymentOptions,
) {
  return (_prototype: object, _name: string | symbol, descriptor: PropertyDescriptor): void => {
    const method = descriptor.value as object;
    const metadata: HandlerMetadata = {
      of,
      states: typeof states === 'string' ? [states] : states,
      id: options.id ?? null,
      account: options.name ?? DEFAULT_ACCOUNT,
      concurrency: options.concurrency ?? DEFAULT_CONCURRENCY,
      timeoutMs: options.timeoutMs ?? null,
    };
    Reflect.defineMetadata(METADATA, [...marksOf(method), metadata], method);
  };
}

export function marksOf(method: object): readonly HandlerMetadata[] {
  return (Reflect.getMetadata(METADATA, method) as readonly HandlerMetadata[] | undefined) ?? [];
}
