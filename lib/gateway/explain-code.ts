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
  /** For the merchant alone: it may say that a card was reported stolen. */
  readonly whatHappened: string;
  /** For the buyer. Never says that a bank suspects something: such a decline reads like any other. */
  readonly tellBuyer: string;
  readonly retry: RetryAdvice;
}

/**
 * A payment's result code in words, for the vendor's public list, for codes of the gateway's own validation (`RVV…`)
 * and, with the advice to contact the shop, for any other.
 *
 * Show `tellBuyer` of a payment that is `failed` with reason `declined`. Otherwise the `state` comes first: an approval
 * that contradicts the request has the code of an approval, too, but is in `review`.
 *
 * ```ts
 * const { tellBuyer, retry } = explainCode(payment.code, 'en');
 * ```
 *
 * What a code means for the buyer is inferred from the vendor's list and ISO 8583 (unverified).
 *
 * @param code `payment.code`
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
