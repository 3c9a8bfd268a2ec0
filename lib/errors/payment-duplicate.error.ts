import type { Payment } from '../payment/payment.js';
import { PaymentError } from './payment.error.js';

/** The `conversationId` or `idempotencyKey` is already another payment's. Look at `payment` before you retry. */
export class PaymentDuplicateError extends PaymentError {
  readonly code = 'PAYMENT_DUPLICATE';

  constructor(
    readonly payment: Payment,
    key: 'conversationId' | 'idempotencyKey',
  ) {
    super(`This ${key} is already taken by a payment that is ${payment.state}; nothing was sent.`);
  }
}
