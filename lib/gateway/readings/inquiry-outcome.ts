import type { DialectOperation, InquiryResult, ResultCodeSets } from '../gateway-dialect.js';
import type { GatewayReply } from '../transport/transmission.js';
import type { ChargeOutcome } from './charge-outcome.js';
import { ReplyFields } from './reply-fields.js';
import {
  codeMeanings,
  contradictionOf,
  type Expectation,
  isForeign,
  isSuccessStatus,
  isUnreadable,
  namesPayment,
  type ReadingRules,
} from './result-checks.js';
import { recoded } from '../../payment/own-bytes.js';

/** What a CheckPayment showed. `nothing`: nothing clear; ask again later. */
export type InquiryOutcome =
  | {
      readonly outcome: 'paid';
      /** Whether the answer shows our id or our amount. Only such an answer confirms an approval that named no payment. */
      readonly isBound: boolean;
      readonly charge: ChargeOutcome;
    }
  | { readonly outcome: 'declined' | 'mismatch'; readonly charge: ChargeOutcome }
  | { readonly outcome: 'not_found' }
  | { readonly outcome: 'nothing' };

const NOTHING = { outcome: 'nothing' } as const;

/** Reads the answer to a CheckPayment. Only a clear answer settles anything: an HTTP 404, for one, is not clear. */
export function inquiryOutcome(
  reply: GatewayReply,
  operation: DialectOperation<never, InquiryResult>,
  expected: Expectation,
  rules: ReadingRules,
): InquiryOutcome {
  try {
    const fields = isSuccessStatus(reply.status) ? ReplyFields.parse(reply.text) : null;
    const result = fields && operation.read(fields);
    return fields && result?.code ? inquiryFromResult(fields, result, result.code, expected, rules) : NOTHING;
  } catch (error) {
    // A host's own dialect may throw while reading.
    rules.onThrow?.(error);
    return NOTHING;
  }
}

function inquiryFromResult(
  fields: ReplyFields,
  result: InquiryResult,
  code: string,
  expected: Expectation,
  rules: ReadingRules,
): InquiryOutcome {
  if (isForeign(result, expected.conversationId) || !isOfSale(result)) return NOTHING;
  const meanings = codeMeanings(result, rules.codes);
  const isAgreed = result.resultCode === null || result.resultCode === code;
  if (!isAgreed || new Set(meanings).size !== 1) return NOTHING;
  if (meanings[0] === 'approved') {
    if (result.isSuccessful === false) return NOTHING;
    const reason = contradictionOf(fields, result, expected, rules);
    if (reason) return { outcome: 'mismatch', charge: { state: 'review', reason, result } };
    const isBound = namesPayment(result, expected, rules.verifyAmount);
    // A code alone may say no more than that the inquiry itself was answered.
    const saysMore = isBound || result.isSuccessful === true || isApprovedText(result.message, rules.codes);
    return saysMore ? { outcome: 'paid', isBound, charge: { state: 'succeeded', reason: null, result } } : NOTHING;
  }
  if (rules.codes.inquiryDeclinedCodes.has(code)) {
    if (result.isSuccessful === true) return NOTHING;
    return { outcome: 'declined', charge: { state: 'failed', reason: 'declined', result } };
  }
  return rules.codes.notFoundCodes.has(code) ? { outcome: 'not_found' } : NOTHING;
}

/** A void of the same payment, for one, says nothing of the sale. */
function isOfSale(result: InquiryResult): boolean {
  const type = result.transactionType;
  return type === null ? !isUnreadable(result, 'transactionType') : type.toUpperCase() === 'SALE';
}

/** Whether an answer's text is one of those that say approved. */
export function isApprovedText(text: unknown, { approvedTexts }: Pick<ResultCodeSets, 'approvedTexts'>): boolean {
  // A dialect written in plain JavaScript may give what is no text.
  if (typeof text !== 'string') return false;
  const said = folded(text);
  return [...approvedTexts].some((approved) => said === folded(approved) || said === folded(mojibakeOf(approved)));
}

/**
 * Without case. The four letters i, İ, ı and I are one, since upper case of the one language is read as that of the other;
 * so is ý, which is what ı of ISO 8859-9 becomes when it is read as Latin-1.
 */
function folded(text: string): string {
  return text.trim().toLowerCase().replace(/[ıý]/g, 'i').replaceAll('i\u0307', 'i');
}

/** What a text becomes when its UTF-8 is read as Latin-1. */
function mojibakeOf(text: string): string {
  return recoded(text, 'utf8', 'latin1');
}
