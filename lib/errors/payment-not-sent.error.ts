import type { Payment } from '../payment/payment.js';
import { PaymentError } from './payment.error.js';

/** Proven: the request was never begun on a connection. Safe to try again, as a new payment. */
export class PaymentNotSentError extends PaymentError {
  readonly code = 'PAYMENT_NOT_SENT';

  constructor(
    readonly payment: Payment,
    why: string,
  ) {
    super(`The payment was not sent: ${why}. Nothing was charged; it is safe to try again.`);
  }
}
