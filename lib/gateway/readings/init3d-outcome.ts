import type { PaymentReason } from '../../payment/payment.js';
import type { DialectOperation, GatewayResult, Init3dResult } from '../gateway-dialect.js';
import type { Answer } from '../transport/transmission.js';
import { decodeBankPage } from './bank-page.js';
import { type Question, readAnswer } from './facts.js';
import { judge, OPENING } from './verdicts.js';

/** The outcome of an Init3d that may have been sent. `content` is the page in Base64, as received, `html` decoded. */
export type Init3dOutcome =
  | { readonly content: string; readonly html: string }
  | { readonly content: null; readonly reason: PaymentReason; readonly result: GatewayResult | null };

/** Decides whether an Init3d gave a page for the buyer. If not, no money can move, because Auth3d is never called. */
export function init3dOutcome(
  answer: Answer,
  operation: DialectOperation<never, Init3dResult>,
  question: Question,
): Init3dOutcome {
  const { facts, result } = readAnswer(answer, operation, question);
  const reason = judge(OPENING, facts);
  if (reason) return { content: null, reason, result: reason === 'conversation_mismatch' ? null : result };
  const content: unknown = result?.content;
  const html: unknown = typeof content === 'string' ? (result?.html ?? decodeBankPage(content)) : null;
  if (typeof content === 'string' && typeof html === 'string') return { content, html };
  return { content: null, reason: 'unreadable', result };
}
