import { PaymentError } from './payment.error.js';

/**
 * As many payments run in this process as `maxInFlight` lets, so that this one was refused before anything was looked
 * at: nothing was recorded, nothing was sent. Safe to try again with the same input, `idempotencyKey` and all.
 */
export class PaymentOverloadError extends PaymentError {
  readonly code = 'PAYMENT_OVERLOAD';

  /** @param maxInFlight the bound that is reached */
  constructor(readonly maxInFlight: number) {
    super(
      `The payment was refused, since ${maxInFlight} are in flight (maxInFlight). Nothing was recorded or sent; ` +
        'it is safe to try again.',
    );
  }
}
