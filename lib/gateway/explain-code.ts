import { textLanguage } from '../payment/text-language.js';
import {
  ADVICE,
  NO_CODE,
  RESULT_CODES,
  type ResultCodeRow,
  type RetryAdvice,
  UNKNOWN_CODE,
  VALIDATION_CODE,
  VALIDATION_PREFIX,
} from './result-code-table.js';

/** What a result code means, in words. */
export interface CodeExplanation {
  readonly code: string | null;
  /** For the merchant only: it may say that a card was reported stolen. */
  readonly whatHappened: string;
  /** For the buyer. It never says that the bank suspects fraud: that decline reads like any other. */
  readonly tellBuyer: string;
  /** Whether and how the buyer should try again. */
  readonly retry: RetryAdvice;
}

/**
 * Explains a payment's result code in words. It knows the codes of the vendor's public list and those of the gateway's
 * own validation (`RVV…`); for any other code the buyer is advised to contact the shop.
 *
 * Show `tellBuyer` for a payment that is `failed` with reason `declined`. For any other payment look at its `state`
 * first: an approval that contradicts the request has the code of an approval, but is in `review`.
 *
 * ```ts
 * const { tellBuyer, retry } = explainCode(payment.code, 'en');
 * ```
 *
 * Unverified: what a code means for the buyer is inferred from the vendor's list and from ISO 8583.
 *
 * @param code the `code` of the payment
 * @param language `tr` or `en`, perhaps with a region; English for any other
 */
export function explainCode(code: string | null, language = 'tr'): CodeExplanation {
  const [advice, en, tr] = rowOf(code);
  const inLanguage = textLanguage(language);
  return {
    code,
    whatHappened: { en, tr }[inLanguage],
    tellBuyer: ADVICE[advice][inLanguage],
    retry: ADVICE[advice].retry,
  };
}

function rowOf(code: string | null): ResultCodeRow {
  if (code === null) return NO_CODE;
  if (isListed(code)) return RESULT_CODES[code];
  return code.startsWith(VALIDATION_PREFIX) ? VALIDATION_CODE : UNKNOWN_CODE;
}

function isListed(code: string): code is keyof typeof RESULT_CODES {
  return Object.hasOwn(RESULT_CODES, code);
}
