import { DEFAULT_ACCOUNT } from '../payment/account.js';
import type { PaymentEventState } from '../payment/payment-event.js';

const METADATA = 'nestjs-card-payment:on-payment';

export interface OnPaymentOptions {
  /** Under which deliveries are acknowledged; keep it when the class or method is renamed. Default `Class.method`. */
  readonly id?: string;
  /** The account whose payments it handles. Default the unnamed one. */
  readonly name?: string;
}

/** One `@OnPayment` on one method. */
export interface OnPaymentMetadata {
  readonly states: readonly PaymentEventState[];
  readonly id: string | null;
  readonly account: string;
}

/**
 * Marks a method of a static provider as an awaited handler of payments that reach a state. It is called at least once
 * for each such event, again with back-off until it returns, also after a crash: deduplicate by `eventId`. A handler
 * that keeps failing is parked, to be replayed by an operator.
 *
 * @example
 * ```ts
 * @OnPayment('succeeded')
 * async paid({ eventId, payment }: PaymentEvent) { … }
 * ```
 */
export function OnPayment(
  states: PaymentEventState | readonly PaymentEventState[],
  options: OnPaymentOptions = {},
): MethodDecorator {
  return (_prototype, _name, descriptor: PropertyDescriptor) => {
    const method = descriptor.value as object;
    const metadata: OnPaymentMetadata = {
      states: typeof states === 'string' ? [states] : states,
      id: options.id ?? null,
      account: options.name ?? DEFAULT_ACCOUNT,
    };
    Reflect.defineMetadata(METADATA, [...onPaymentMetadata(method), metadata], method);
  };
}

export function onPaymentMetadata(method: object): readonly OnPaymentMetadata[] {
  return (Reflect.getMetadata(METADATA, method) as readonly OnPaymentMetadata[] | undefined) ?? [];
}
