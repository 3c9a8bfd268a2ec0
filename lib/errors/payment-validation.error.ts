import type { TextLanguage, Translations } from '../payment/text-language.js';
import { fieldNameOf } from './buyer-texts.js';
import { PaymentError } from './payment.error.js';

const REFUSED: Translations = {
  en: 'The payment was refused before sending',
  tr: 'Ödeme gönderilmeden reddedildi',
};

/** One thing that is wrong with the input. The value is never shown. */
export interface ValidationIssue {
  /** Where: `cardDetails.expDate`. */
  readonly path: string;
  /** What the buyer calls it: `Expiry date`. Of a field that no buyer fills in, its own name. */
  readonly field: string;
  /** Which rule: a stable name such as `isNotEmpty` or `luhn`. */
  readonly rule: string;
  /** What to do about it, in the language of the payment (`language` of the input, or the option). */
  readonly message: string;
}

/** What {@link PaymentValidationError} is made of: a {@link ValidationIssue}, worded in both languages or in one. */
export interface ValidationProblem {
  readonly path: string;
  readonly rule: string;
  /** `$property` stands for the field, as the buyer calls it. */
  readonly message: Translations | string;
}

/** The input is refused; nothing was sent or stored. */
export class PaymentValidationError extends PaymentError {
  readonly code = 'PAYMENT_VALIDATION';
  readonly issues: readonly ValidationIssue[];

  /** Private to the language: printed and as JSON, the error shows its issues once. */
  readonly #problems: readonly ValidationProblem[];

  constructor(problems: readonly ValidationProblem[], language: TextLanguage = 'en') {
    const issues = worded(problems, language);
    super(`${REFUSED[language]}: ${issues.map(({ path, message }) => `${path}: ${message}`).join('; ')}`);
    this.issues = issues;
    this.#problems = problems;
  }

  override get statusCode(): 400 {
    return 400;
  }

  /** The same issues in the language of whoever reads them. */
  issuesIn(language: TextLanguage): readonly ValidationIssue[] {
    return worded(this.#problems, language);
  }
}

function worded(problems: readonly ValidationProblem[], language: TextLanguage): readonly ValidationIssue[] {
  return problems.map(({ path, rule, message }) => {
    const field = fieldNameOf(path, language);
    const text = typeof message === 'string' ? message : message[language];
    return { path, field, rule, message: text.replaceAll('$property', () => field) };
  });
}
