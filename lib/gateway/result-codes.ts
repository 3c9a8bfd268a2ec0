import { textLanguage } from '../runtime/text-language.js';
import type { ResultCodeSets } from './gateway-dialect.js';
import table from './result-codes.json' with { type: 'json' };

/**
 * Whether a buyer should try again.
 *
 * - `same_card`: yes, with the same card, after correcting what `tellBuyer` names.
 * - `other_card`: yes, with another card.
 * - `later`: yes, with the same card, in a few minutes.
 * - `never`: no. It would not help, or money may have moved.
 */
export type RetryAdvice = 'same_card' | 'other_card' | 'later' | 'never';

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

/** `card` and `unpaid` are declines that inquiries tell apart: of the card, and of a payment that was not made. */
type Kind = 'approved' | 'variant' | 'indeterminate' | 'declined' | 'card' | 'unpaid' | 'unheard';

/** What to tell the buyer, by the name of the advice. */
const ADVICE = table.advice as unknown as Readonly<Record<string, readonly [RetryAdvice, en: string, tr: string]>>;
/** What a code means for the outcome, what to tell the buyer, and what happened, for the merchant. */
type Row = readonly [Kind, advice: string, en: string, tr: string];
/** The codes of the vendor's public list. */
const CODES = new Map(Object.entries(table.codes as unknown as Readonly<Record<string, Row>>));
const { validation, unknown, none } = table as unknown as Readonly<Record<'validation' | 'unknown' | 'none', Row>>;
/** The first letters of the gateway's own validation codes. The vendor publishes no list of them. */
const VALIDATION_PREFIX = 'RVV';

/**
 * What the result codes mean in both built-in dialects. docs/interface.md shows `B0000` only; the others are
 * unverified: inferred from the vendor's public list and from ISO 8583, the scheme it follows. `notFoundCodes` is
 * empty, because no public source names that code. `approvedTexts` are `Approved`, which the vendor's plugins look for
 * in an inquiry, and `Onaylandı`, which its documentation shows for an approval.
 */
export const DEFAULT_CODE_SETS: ResultCodeSets = {
  approvedCodes: codesOf('approved'),
  // The vendor's public sample of a refund's answer shows `00`.
  refundApprovedCodes: new Set([...codesOf('approved'), '00']),
  approvalVariantCodes: codesOf('variant'),
  indeterminateCodes: codesOf('indeterminate'),
  declinedCodes: codesOf('declined', 'card', 'unpaid'),
  declinedPrefixes: [VALIDATION_PREFIX],
  inquiryDeclinedCodes: codesOf('card'),
  notFoundCodes: new Set(),
  // The customer cancelled; the record, or the transaction that this one belongs to, was not found.
  inquiryUnpaidCodes: codesOf('unpaid'),
  approvedTexts: new Set(['Approved', 'Onaylandı']),
};

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
  const [, advice, ...happened] = rowOf(code);
  const [retry, ...tell] = ADVICE[advice]!;
  const inLanguage = textLanguage(language) === 'en' ? 0 : 1;
  return { code, whatHappened: happened[inLanguage], tellBuyer: tell[inLanguage], retry };
}

function rowOf(code: string | null): Row {
  if (code === null) return none;
  return CODES.get(code) ?? (code.startsWith(VALIDATION_PREFIX) ? validation : unknown);
}

function codesOf(...kinds: readonly Kind[]): ReadonlySet<string> {
  return new Set([...CODES].filter(([, [kind]]) => kinds.includes(kind)).map(([code]) => code));
}
