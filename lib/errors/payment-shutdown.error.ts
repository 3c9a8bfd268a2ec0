import { PaymentError } from './payment.error.js';

/**
 * This process is shutting down, so that the call was refused before anything was looked at: nothing was recorded,
 * nothing was sent. Safe to try again with the same input, `idempotencyKey` and all; another instance takes it.
 */
export class PaymentShutdownError extends PaymentError {
  readonly code = 'PAYMENT_SHUTDOWN';

  constructor() {
    super(
      'The call was refused, since this process is shutting down. Nothing was recorded or sent; it is safe to try ' +
        'again, at another instance or once this one is back.',
    );
  }
}
