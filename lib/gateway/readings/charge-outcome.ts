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

/** What became of a DoPayment or an Auth3d that may have left. */
export interface ChargeOutcome {
  readonly state: 'succeeded' | 'failed' | 'unknown' | 'review';
  readonly reason: PaymentReason | null;
  /** What the answer says; null where there was none to read. */
  readonly result: GatewayResult | null;
}

/** What an answer that may be a charge's is judged by. */
export interface ChargeRules extends ReadingRules {
  /** What an approval makes of the payment when it does not name it: see {@link isBound}. */
  readonly unboundState: 'succeeded' | 'unknown' | 'review';
}

/** 4xx that say that the request was not carried out, whatever the body. */
const REFUSING_STATUSES: ReadonlySet<number> = new Set([401, 404, 405, 413, 415, 429]);
/** 4xx that may follow a request that was carried out: a time-out, a conflict. */
const UNDECIDED_STATUSES: ReadonlySet<number> = new Set([408, 409]);

/**
 * Decides what became of a DoPayment or an Auth3d that may have left. What is neither clearly an approval nor clearly a
 * refusal is `unknown`, and so is no answer at all.
 *
 * | answer | outcome |
 * |---|---|
 * | 2xx, an approved code, nothing that disagrees | `succeeded` |
 * | the same, but codes, id, currency, amount or sign disagree; a partial or conditional approval | `review` |
 * | the same, nothing disagrees, but the payment is not named, and has to be | `unknown` or `review`, `unbound` |
 * | 2xx, a declined code | `failed`, `declined` |
 * | 401, 404, 405, 413, 415 or 429, and no code that approves or is indeterminate | `failed`, `refused` |
 * | any other 4xx but 408 and 409, with a code, and none of those | `failed`, `refused` |
 * | all else: another code, another status, no JSON, no code, over 1 MiB, the deadline, a lost connection | `unknown` |
 */
export function chargeOutcome(
  answer: Answer,
  operation: DialectOperation<never, GatewayResult>,
  expected: Expectation,
  rules: ChargeRules,
): ChargeOutcome {
  if (!answer.reply) {
    const isSilence = answer.cause === 'deadline' || answer.cause === 'connection_lost';
    return { state: 'unknown', reason: isSilence ? 'no_answer' : 'unreadable', result: null };
  }
  try {
    return chargeFromReply(answer.reply, operation, expected, rules);
  } catch (error) {
    rules.onThrow?.(error);
    // A host's own dialect may throw while reading. By now money may have moved, so that must not become a throw.
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
  const isAgreed = result.resultCode === null || result.resultCode === result.code;
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
