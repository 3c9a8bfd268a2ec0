import { PaymentError } from './payment.error.js';

/** The dialect has no such operation; nothing was sent. */
export class PaymentUnsupportedError extends PaymentError {
  readonly code = 'PAYMENT_UNSUPPORTED';

  constructor(operation: string, dialect: string) {
    super(`The dialect "${dialect}" has no ${operation}.`);
  }
}
