import type { PaymentReason } from '../../payment/payment.js';
import { decodeBankPage } from './bank-page.js';
import type { DialectOperation, GatewayResult, Init3dResult, ResultCodeSets } from '../gateway-dialect.js';
import type { Answer, GatewayReply } from '../transport/transmission.js';
import { ReplyFields } from './reply-fields.js';
import { codeMeanings, failureOf, isForeign, isSuccessStatus, type ReadingRules } from './result-checks.js';

/** The outcome of an Init3d that may have been sent. `content` is the page in Base64, as received, `html` decoded. */
export type Init3dOutcome =
  | { readonly content: string; readonly html: string }
  | { readonly content: null; readonly reason: PaymentReason; readonly result: GatewayResult | null };

/** Decides whether an Init3d gave a page for the buyer. If not, no money can move, because Auth3d is never called. */
export function init3dOutcome(
  answer: Answer,
  operation: DialectOperation<never, Init3dResult>,
  conversationId: string,
  { codes, onThrow }: Pick<ReadingRules, 'codes' | 'onThrow'>,
): Init3dOutcome {
  if (!answer.reply) return failed('no_answer');
  try {
    return pageFromReply(answer.reply, operation, conversationId, codes);
  } catch (error) {
    // A host's own dialect may throw while it reads.
    onThrow?.(error);
    return failed('unreadable');
  }
}

function pageFromReply(
  { status, text }: GatewayReply,
  operation: DialectOperation<never, Init3dResult>,
  conversationId: string,
  codes: ResultCodeSets,
): Init3dOutcome {
  const fields = ReplyFields.parse(text);
  const reading = fields && operation.read(fields);
  if (!reading) return failed(isSuccessStatus(status) ? 'unreadable' : failureOf(status));
  const { content, html: decoded, ...result } = reading;
  if (!isSuccessStatus(status)) return failed(failureOf(status), result);
  const meanings = codeMeanings(result, codes);
  if (meanings.includes('declined')) return failed('declined', result);
  if (meanings.some((meaning) => meaning !== 'approved')) return failed('unrecognised_code', result);
  if (isForeign(result, conversationId)) return failed('conversation_mismatch');
  const html = content === null ? null : (decoded ?? decodeBankPage(content));
  return content === null || html === null ? failed('unreadable', result) : { content, html };
}

function failed(reason: PaymentReason, result: GatewayResult | null = null): Init3dOutcome {
  return { content: null, reason, result };
}
