import { PaymentError } from './payment.error.js';

/** One thing that is wrong with the input. The value is never shown. */
export interface ValidationIssue {
  /** Where: `cardDetails.expDate`. */
  readonly path: string;
  /** Which rule: a stable name such as `isNotEmpty` or `luhn`. */
  readonly rule: string;
  /** What to do about it, for the developer. */
  readonly message: string;
}

/** The input is refused; nothing was sent or stored. */
export class PaymentValidationError extends PaymentError {
  readonly code = 'PAYMENT_VALIDATION';

  constructor(readonly issues: readonly ValidationIssue[]) {
    super(
      'The payment was refused before sending: ' + issues.map(({ path, message }) => `${path}: ${message}`).join('; '),
    );
  }

  override get statusCode(): 400 {
    return 400;
  }
}
