import type { PaymentReason } from '../../payment/payment.js';
import type { DialectOperation, GatewayResult } from '../gateway-dialect.js';
import type { Answer, GatewayReply } from '../transport/transmission.js';
import { ReplyFields } from './reply-fields.js';
import {
  codeMeanings,
  type CodeMeaning,
  contradictionOf,
  type Expectation,
  isBound,
  isSuccessStatus,
  type ReadingRules,
} from './result-checks.js';

/** The outcome of a DoPayment, an Auth3d, a refund or a void that may have been sent. */
export interface ChargeOutcome {
  readonly state: 'succeeded' | 'failed' | 'unknown' | 'review';
  readonly reason: PaymentReason | null;
  /** What the answer says; null if no answer could be read. */
  readonly result: GatewayResult | null;
}

/** The rules by which the answer to one of them is judged. */
export interface ChargeRules extends ReadingRules {
  /** The state after an approval that does not name the payment: see {@link isBound}. */
  readonly unboundState: 'succeeded' | 'unknown' | 'review';
  /** Whether an answer may show two different codes that both approve, as the answer to a refund does. */
  readonly mayApproveTwice?: boolean;
}

/** HTTP statuses that say that the request was not carried out, whatever the body says. */
const REFUSING_STATUSES: ReadonlySet<number> = new Set([401, 404, 405, 413, 415, 429]);
/** HTTP statuses that may answer a request that was carried out: a timeout and a conflict. */
const UNDECIDED_STATUSES: ReadonlySet<number> = new Set([408, 409]);

/**
 * Decides the outcome of a request that may have been sent and that moves money. It is `unknown` unless the answer
 * clearly approves or clearly refuses.
 *
 * | answer | outcome |
 * |---|---|
 * | 2xx, an approved code, nothing that disagrees | `succeeded` |
 * | the same, but codes, id, currency, amount or sign disagree; a partial or conditional approval | `review` |
 * | the same, nothing disagrees, but the payment has to be named and is not | `unknown` or `review`, `unbound` |
 * | 2xx, a declined code | `failed`, `declined` |
 * | 401, 404, 405, 413, 415 or 429, without a code that approves or is indeterminate | `failed`, `refused` |
 * | any other 4xx but 408 and 409, with a code that neither approves nor is indeterminate | `failed`, `refused` |
 * | all else: another code, another status, no JSON, no code, over 1 MiB, the deadline, a lost connection | `unknown` |
 */
export function chargeOutcome(
  answer: Answer,
  operation: DialectOperation<never, GatewayResult>,
  expected: Expectation,
  rules: ChargeRules,
): ChargeOutcome {
  if (!answer.reply) {
    const hasNone = answer.cause === 'deadline' || answer.cause === 'connection_lost';
    return { state: 'unknown', reason: hasNone ? 'no_answer' : 'unreadable', result: null };
  }
  try {
    return chargeFromReply(answer.reply, operation, expected, rules);
  } catch (error) {
    // A host's own dialect may throw while it reads. Money may have moved by now, so this must end in an outcome.
    rules.onThrow?.(error);
    return { state: 'unknown', reason: 'unreadable', result: null };
  }
}

function chargeFromReply(
  { status, text }: GatewayReply,
  operation: DialectOperation<never, GatewayResult>,
  expected: Expectation,
  rules: ChargeRules,
): ChargeOutcome {
  const fields = ReplyFields.parse(text);
  const result = fields && operation.read(fields);
  const meanings = result ? codeMeanings(result, rules.codes) : [];
  if (isSuccessStatus(status)) {
    if (!fields || !result?.code) return { state: 'unknown', reason: 'unreadable', result };
    return { ...chargeFromResult(fields, result, meanings, expected, rules), result };
  }
  const isUnclear = meanings.some((meaning) => meaning !== 'declined' && meaning !== 'unrecognised');
  if (isUnclear) return { state: 'unknown', reason: 'indeterminate_code', result };
  return isRefusal(status, result?.code != null)
    ? { state: 'failed', reason: 'refused', result }
    : { state: 'unknown', reason: 'server_error', result };
}

function isRefusal(status: number, hasCode: boolean): boolean {
  if (REFUSING_STATUSES.has(status)) return true;
  return status >= 400 && status < 500 && hasCode && !UNDECIDED_STATUSES.has(status);
}

function chargeFromResult(
  fields: ReplyFields,
  result: GatewayResult,
  meanings: readonly CodeMeaning[],
  expected: Expectation,
  rules: ChargeRules,
): Pick<ChargeOutcome, 'state' | 'reason'> {
  const isApproval = meanings.some((meaning) => meaning === 'approved' || meaning === 'variant');
  const isSame = result.resultCode === null || result.resultCode === result.code;
  const isAgreed = isSame || (rules.mayApproveTwice === true && !meanings.some((meaning) => meaning !== 'approved'));
  if (isApproval && (!isAgreed || meanings.includes('indeterminate'))) {
    return { state: 'review', reason: 'codes_disagree' };
  }
  if (meanings.includes('variant')) return { state: 'review', reason: 'approval_variant' };
  if (isApproval) {
    const contradiction = contradictionOf(fields, result, expected, rules);
    if (contradiction) return { state: 'review', reason: contradiction };
    const { verifyAmount, unboundState } = rules;
    if (isBound(result, expected, verifyAmount) || unboundState === 'succeeded') {
      return { state: 'succeeded', reason: null };
    }
    return { state: unboundState, reason: 'unbound' };
  }
  if (meanings.includes('indeterminate')) return { state: 'unknown', reason: 'indeterminate_code' };
  if (meanings.includes('unrecognised')) return { state: 'unknown', reason: 'unrecognised_code' };
  return { state: 'failed', reason: 'declined' };
}
