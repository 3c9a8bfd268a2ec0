import { PaymentError } from './payment.error.js';

/** The store failed before anything was sent, or while reading. Nothing was charged by this call. */
export class PaymentStoreError extends PaymentError {
  readonly code = 'PAYMENT_STORE';

  constructor(doing: string) {
    super(`The payment store failed while ${doing}. No money was moved by this call.`);
  }
}
