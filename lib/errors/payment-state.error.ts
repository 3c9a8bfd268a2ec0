import type { Payment } from '../payment/payment.js';
import { PaymentError } from './payment.error.js';

/** The payment's state forbids what was asked; nothing was sent. */
export class PaymentStateError extends PaymentError {
  readonly code = 'PAYMENT_STATE';

  constructor(
    readonly payment: Payment,
    action: string,
  ) {
    super(`A ${payment.kind} payment that is ${payment.state} cannot ${action}.`);
  }

  override get statusCode(): 409 {
    return 409;
  }
}
