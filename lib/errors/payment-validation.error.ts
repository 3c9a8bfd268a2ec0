import type { TextLanguage, Translations } from '../payment/text-language.js';
import { PaymentError } from './payment.error.js';

const REFUSED: Translations = {
  en: 'The payment was refused before sending',
  tr: 'Ödeme gönderilmeden reddedildi',
};

/** One thing that is wrong with the input. The value is never shown. */
export interface ValidationIssue {
  /** Where: `cardDetails.expDate`. */
  readonly path: string;
  /** Which rule: a stable name such as `isNotEmpty` or `luhn`. */
  readonly rule: string;
  /** What to do about it, in the language of the payment (`language` of the input, or the option). */
  readonly message: string;
}

/** The input is refused; nothing was sent or stored. */
export class PaymentValidationError extends PaymentError {
  readonly code = 'PAYMENT_VALIDATION';

  constructor(
    readonly issues: readonly ValidationIssue[],
    language: TextLanguage = 'en',
  ) {
    super(`${REFUSED[language]}: ${issues.map(({ path, message }) => `${path}: ${message}`).join('; ')}`);
  }

  override get statusCode(): 400 {
    return 400;
  }
}
