import { compareAmounts } from '../../payment/amount.js';
import type { PaymentReason } from '../../payment/payment-reason.js';
import type { GatewayDialect, GatewayResult } from '../gateway-dialect.js';
import { ReplyFields } from './reply-fields.js';
import { type CodeMeaning, codeMeaning } from '../result-codes.js';
import type { WireReply } from '../transport/gateway-transport.js';
import type { Verdict } from './verdict.js';

/** What an approval must agree with to be believed. */
export interface Expectation {
  readonly conversationId: string;
  readonly amount: string;
  readonly currencyCode: number;
  readonly installmentCount: number;
}

/** How strictly an approved amount is compared: see the option `verifyAmount`. */
export type AmountCheck = 'notLess' | 'exact' | 'off';

export interface ReadingRules {
  readonly verifyAmount: AmountCheck;
  /** Null where signs of answers are not verified. */
  readonly isSignGood: ((fields: ReplyFields) => boolean) | null;
}

/** 4xx that say that the request was not carried out, whatever the body. */
const REFUSING_STATUSES: ReadonlySet<number> = new Set([401, 404, 405, 413, 415, 429]);
/** 4xx that may follow a request that was carried out. */
const TIMELY_STATUSES: ReadonlySet<number> = new Set([408, 409]);

/** Reads the answer to a DoPayment or an Auth3d. Whatever is not clearly an approval or a refusal is `unknown`. */
export function readReply(
  reply: WireReply,
  dialect: GatewayDialect,
  expected: Expectation,
  rules: ReadingRules,
): Verdict {
  const fields = ReplyFields.parse(reply.text);
  const result = fields && dialect.readResult(fields);
  const meanings = meaningsOf(result, fields, dialect);
  const unclear = meanings.some((meaning) => meaning !== 'declined' && meaning !== 'unrecognised');

  if (isSuccessStatus(reply.status)) {
    if (!fields || !result?.code) return { state: 'unknown', reason: 'unreadable', result };
    return { ...readAnswer(fields, result, meanings, expected, rules), result };
  }
  if (reply.status >= 400 && reply.status < 500 && !unclear) {
    const carriesCode = result?.code != null && !TIMELY_STATUSES.has(reply.status);
    if (REFUSING_STATUSES.has(reply.status) || carriesCode) return { state: 'failed', reason: 'refused', result };
  }
  return { state: 'unknown', reason: unclear ? 'indeterminate_code' : 'server_error', result };
}

export function isSuccessStatus(status: number): boolean {
  return status >= 200 && status < 300;
}

/** What each code in the answer means; a code that is no text, or stands twice with different values, means nothing clear. */
export function meaningsOf(
  result: GatewayResult | null,
  fields: ReplyFields | null,
  dialect: GatewayDialect,
): CodeMeaning[] {
  if (!result || !fields) return [];
  const codes = [result.code, result.resultCode].filter((code) => code !== null);
  const meanings = codes.map((code) => codeMeaning(code, dialect.codes));
  if (fields.isNoText('code') || fields.isNoText('resultCode')) meanings.push('indeterminate');
  return meanings;
}

function readAnswer(
  fields: ReplyFields,
  result: GatewayResult,
  meanings: readonly CodeMeaning[],
  expected: Expectation,
  rules: ReadingRules,
): { state: Verdict['state']; reason: PaymentReason | null } {
  const approving = meanings.some((meaning) => meaning === 'approved' || meaning === 'variant');
  const agreeing = result.resultCode === null || result.resultCode === result.code;
  if (approving && (!agreeing || meanings.includes('indeterminate')))
    return { state: 'review', reason: 'codes_disagree' };
  if (meanings.includes('variant')) return { state: 'review', reason: 'approval_variant' };
  if (approving) {
    const contradiction = contradictionOf(fields, result, expected, rules);
    return contradiction ? { state: 'review', reason: contradiction } : { state: 'succeeded', reason: null };
  }
  if (meanings.includes('indeterminate')) return { state: 'unknown', reason: 'indeterminate_code' };
  if (meanings.includes('unrecognised')) return { state: 'unknown', reason: 'unrecognised_code' };
  return { state: 'failed', reason: 'declined' };
}

/** In what an approval contradicts the request; null where it agrees, or does not say. */
export function contradictionOf(
  fields: ReplyFields,
  result: GatewayResult,
  expected: Expectation,
  rules: ReadingRules,
): PaymentReason | null {
  if (fields.has('conversationId') && result.conversationId !== expected.conversationId) return 'conversation_mismatch';
  if (!isCurrencyOurs(fields, result.currency, expected.currencyCode)) return 'currency_mismatch';
  if (!isAmountOurs(fields, result.amount, expected, rules.verifyAmount)) return 'amount_mismatch';
  // A dialect written in plain JavaScript may give a promise, which is no yes.
  if (rules.isSignGood && rules.isSignGood(fields) !== true) return 'sign_mismatch';
  return null;
}

function isCurrencyOurs(fields: ReplyFields, told: string | null, asked: number): boolean {
  const isThere = told !== null || fields.has('currency');
  return !isThere || (told !== null && /^\d{1,3}$/.test(told) && Number(told) === asked);
}

function isAmountOurs(fields: ReplyFields, told: string | null, expected: Expectation, check: AmountCheck): boolean {
  // Where `paymentInfo` is no object, or stands twice, what it says of the amount cannot be known.
  const info = fields.object('paymentInfo');
  const isThere = told !== null || (info ? info.has('amount') : fields.has('paymentInfo'));
  if (check === 'off' || !isThere) return true;
  const difference = told === null ? null : compareAmounts(told, expected.amount);
  if (difference === null || difference < 0) return false;
  return difference === 0 || (check === 'notLess' && expected.installmentCount > 1);
}
