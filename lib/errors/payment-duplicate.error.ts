import type { Payment } from '../payment/payment.js';
import { PaymentError } from './payment.error.js';

/**
 * The `conversationId` or `idempotencyKey` is already that of `payment`, and nothing was sent. From `doPayment` it is
 * always another sale's, or was made with another card; from `init3d` it may be the same sale's. Never take it for the
 * result: compare its kind, reference, amount, currency, instalments and masked card with the sale at hand, and look at
 * its state. It is null when that payment was deleted (`retentionMs`) and only its key is still known
 * (`idempotencyTtlMs`).
 */
export class PaymentDuplicateError extends PaymentError {
  readonly code = 'PAYMENT_DUPLICATE';

  constructor(
    readonly payment: Payment | null,
    key: 'conversationId' | 'idempotencyKey',
  ) {
    const holder = payment ? `a payment that is ${payment.state}` : 'an earlier payment, which has been deleted since';
    super(`This ${key} is already taken by ${holder}; nothing was sent.`);
  }

  override get statusCode(): 409 {
    return 409;
  }
}
