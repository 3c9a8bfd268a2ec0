import { PaymentError } from './payment.error.js';

/** Why a callback was refused. */
export type CallbackRefusal =
  | 'unknown_token'
  | 'not_a_callback'
  | 'repeated_field'
  | 'nested_field'
  | 'too_large'
  | 'missing_field'
  | 'foreign_payment';

/** The callback was refused; the payment is untouched. Nothing of what was received is shown. */
export class PaymentCallbackError extends PaymentError {
  readonly code = 'PAYMENT_CALLBACK';

  constructor(readonly refusal: CallbackRefusal) {
    super(`The callback was refused: ${refusal.replaceAll('_', ' ')}.`);
  }

  override get statusCode(): 400 {
    return 400;
  }
}
