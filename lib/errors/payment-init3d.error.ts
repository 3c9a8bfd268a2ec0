import type { Payment } from '../payment/payment.js';
import { PaymentError } from './payment.error.js';

/**
 * The 3D payment could not be started. No money can move; `payment.reason` and `payment.code` say why. The message does
 * not: it may be shown to the buyer, who must not read from it that a card was reported stolen.
 */
export class PaymentInit3dError extends PaymentError {
  readonly code = 'PAYMENT_INIT3D';

  constructor(readonly payment: Payment) {
    super(`The 3D payment could not be started${whyNot(payment)}.`);
  }

  override get statusCode(): 402 | 409 | undefined {
    if (this.payment.reason === 'declined') return 402;
    return this.payment.reason === 'reference_taken' ? 409 : undefined;
  }
}

/** No more than the HTTP status says. */
function whyNot({ reason }: Payment): string {
  if (reason === 'declined') return ': it was declined';
  return reason === 'reference_taken' ? ': another payment of its reference is under way or has succeeded' : '';
}
