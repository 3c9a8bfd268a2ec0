import type { GatewayDialect } from '../gateway-dialect.js';
import { ReplyFields } from './reply-fields.js';
import { contradictionOf, type Expectation, isSuccessStatus, meaningsOf, type ReadingRules } from './charge-reading.js';
import type { WireReply } from '../transport/gateway-transport.js';
import type { InquiryVerdict } from './verdict.js';

/** Reads the answer to a CheckPayment. Only a clear word settles anything: an HTTP 404, for one, is not a word. */
export function readInquiry(
  reply: WireReply,
  dialect: GatewayDialect,
  expected: Expectation,
  rules: ReadingRules,
): InquiryVerdict {
  const fields = isSuccessStatus(reply.status) ? ReplyFields.parse(reply.text) : null;
  const result = fields && dialect.checkPayment ? dialect.checkPayment.read(fields) : null;
  if (!fields || !result?.code) return { outcome: 'nothing' };
  const isOfAnother = fields.has('conversationId') && result.conversationId !== expected.conversationId;
  const kind = result.transactionType;
  const isOfAnotherKind = kind === null ? fields.has('transactionType') : kind.toUpperCase() !== 'SALE';
  if (isOfAnother || isOfAnotherKind) return { outcome: 'nothing' };

  const meanings = meaningsOf(result, fields, dialect);
  const [meaning] = meanings;
  const isAgreed = result.resultCode === null || result.resultCode === result.code;
  if (!isAgreed || new Set(meanings).size !== 1) return { outcome: 'nothing' };
  if (meaning === 'approved') {
    const reason = contradictionOf(fields, result, expected, rules);
    return reason
      ? { outcome: 'mismatch', verdict: { state: 'review', reason, result } }
      : { outcome: 'paid', verdict: { state: 'succeeded', reason: null, result } };
  }
  if (dialect.codes.inquiryDeclinedCodes.has(result.code)) {
    return { outcome: 'declined', verdict: { state: 'failed', reason: 'declined', result } };
  }
  return dialect.codes.notFoundCodes.has(result.code) ? { outcome: 'not_found' } : { outcome: 'nothing' };
}
