import type { TextLanguage, Translations } from '../runtime/text-language.js';
import { fieldNameOf } from './buyer-texts.js';
import { PaymentError } from './payment-errors.js';

/** One mistake in the input. The value is never shown. */
export interface ValidationIssue {
  /** The field: `cardDetails.expDate`. */
  readonly path: string;
  /** Its label for the buyer: `Expiry date`. The field's own name if no buyer fills it in. */
  readonly field: string;
  /** The rule that it breaks: a stable name such as `isNotEmpty` or `luhn`. */
  readonly rule: string;
  /** What to do about it, in English. For a buyer: `issuesIn(language)`. */
  readonly message: string;
}

/** A {@link ValidationIssue} before its language is chosen: its message may be in both. */
export interface ValidationProblem {
  readonly path: string;
  readonly rule: string;
  /** `$property` stands for the field's label. */
  readonly message: Translations | string;
}

/** The input was refused; nothing was sent or stored. */
export class PaymentValidationError extends PaymentError {
  readonly code = 'PAYMENT_VALIDATION';
  readonly issues: readonly ValidationIssue[];

  /** A `#` field, so that `JSON.stringify` and `console.log` show the issues only once. */
  readonly #problems: readonly ValidationProblem[];

  /** @param language of the issues alone, where they are for a buyer: the message is for programmers */
  constructor(problems: readonly ValidationProblem[], language: TextLanguage = 'en') {
    const lines = worded(problems, 'en').map(({ path, message }) => `${path}: ${message}`);
    super(`The payment was refused before sending: ${lines.join('; ')}`);
    this.issues = worded(problems, language);
    this.#problems = problems;
  }

  override get statusCode(): 400 {
    return 400;
  }

  /** The same issues in the reader's language. */
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
