import type { DialectOperation, InquiryResult } from '../gateway-dialect.js';
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
  type ReadingRules,
} from './result-checks.js';

/** What a CheckPayment showed. `nothing`: nothing clear; ask again later. */
export type InquiryOutcome =
  | { readonly outcome: 'paid' | 'declined' | 'mismatch'; readonly charge: ChargeOutcome }
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
  } catch {
    // A host's own dialect may throw while reading.
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
    return reason
      ? { outcome: 'mismatch', charge: { state: 'review', reason, result } }
      : { outcome: 'paid', charge: { state: 'succeeded', reason: null, result } };
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
