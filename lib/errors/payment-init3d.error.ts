import type { Payment } from '../payment/payment.js';
import { PaymentError } from './payment.error.js';

/** The 3D payment could not be started. No money can move; `payment.reason` and `payment.code` say why. */
export class PaymentInit3dError extends PaymentError {
  readonly code = 'PAYMENT_INIT3D';

  constructor(readonly payment: Payment) {
    super(
      `The 3D payment could not be started (${payment.reason ?? 'failed'}${payment.code ? `, ${payment.code}` : ''}).`,
    );
  }

  override get statusCode(): 402 | 409 | undefined {
    if (this.payment.reason === 'declined') return 402;
    return this.payment.reason === 'reference_taken' ? 409 : undefined;
  }
}
