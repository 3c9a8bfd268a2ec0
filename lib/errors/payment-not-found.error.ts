import { PaymentError } from './payment.error.js';

/** There is no such payment in this account's store. */
export class PaymentNotFoundError extends PaymentError {
  readonly code = 'PAYMENT_NOT_FOUND';

  constructor() {
    super('There is no such payment.');
  }

  override get statusCode(): 404 {
    return 404;
  }
}
