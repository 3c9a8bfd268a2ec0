import { compareAmounts } from '../../payment/amount.js';
import type { PaymentReason } from '../../payment/payment.js';
import type { DecidingField, GatewayResult, AmountCheck, ResultCodeSets } from '../gateway-dialect.js';
import type { ReplyFields } from './reply-fields.js';

/** What an approval must agree with to be believed. */
export interface Expectation {
  readonly conversationId: string;
  readonly amount: string;
  readonly currencyCode: number;
  readonly installmentCount: number;
}

/** What an answer is judged by. */
export interface ReadingRules {
  readonly codes: ResultCodeSets;
  readonly verifyAmount: AmountCheck;
  /** Null where signs of answers are not verified. */
  readonly isSignGood: ((fields: ReplyFields) => boolean) | null;
  /** Is told what a dialect threw while it read the answer. */
  readonly onThrow?: (error: unknown) => void;
}

/** How much a code says about money. */
export type CodeMeaning = 'approved' | 'variant' | 'declined' | 'indeterminate' | 'unrecognised';

export function isSuccessStatus(status: number): boolean {
  return status >= 200 && status < 300;
}

export function codeMeaning(code: string, sets: ResultCodeSets): CodeMeaning {
  if (sets.approvedCodes.has(code)) return 'approved';
  if (sets.approvalVariantCodes.has(code)) return 'variant';
  if (sets.indeterminateCodes.has(code)) return 'indeterminate';
  if (sets.declinedCodes.has(code) || sets.declinedPrefixes.some((prefix) => code.startsWith(prefix))) {
    return 'declined';
  }
  return 'unrecognised';
}

/** What each code of an answer means. One that cannot be read means nothing clear. */
export function codeMeanings(result: GatewayResult, sets: ResultCodeSets): CodeMeaning[] {
  const codes = [result.code, result.resultCode].filter((code) => code !== null);
  const meanings = codes.map((code) => codeMeaning(code, sets));
  if (isUnreadable(result, 'code') || isUnreadable(result, 'resultCode')) meanings.push('indeterminate');
  return meanings;
}

/** Whether the answer says that it is about another payment. */
export function isForeign(result: GatewayResult, conversationId: string): boolean {
  // A dialect written in plain JavaScript may leave fields out.
  const isShown = (result.conversationId ?? null) !== null || isUnreadable(result, 'conversationId');
  return isShown && result.conversationId !== conversationId;
}

export function isUnreadable(result: GatewayResult, field: DecidingField): boolean {
  return result.unreadable?.includes(field) ?? false;
}

/** In what an approval contradicts the request; null where it agrees, or does not say. */
export function contradictionOf(
  fields: ReplyFields,
  result: GatewayResult,
  expected: Expectation,
  rules: ReadingRules,
): PaymentReason | null {
  if (isForeign(result, expected.conversationId)) return 'conversation_mismatch';
  if (!isCurrencyOurs(result, expected.currencyCode)) return 'currency_mismatch';
  if (!isAmountOurs(result, expected, rules.verifyAmount)) return 'amount_mismatch';
  // A dialect written in plain JavaScript may give a promise, which is no yes.
  if (rules.isSignGood && rules.isSignGood(fields) !== true) return 'sign_mismatch';
  return null;
}

/**
 * Whether an approval that contradicts nothing names the payment: its conversationId and, unless the merchant said that
 * amounts do not matter, its amount.
 */
export function isBound(result: GatewayResult, { conversationId }: Expectation, check: AmountCheck): boolean {
  // A dialect written in plain JavaScript may leave fields out.
  return result.conversationId === conversationId && (check === 'off' || (result.amount ?? null) !== null);
}

/**
 * Whether an approval in an inquiry, which is asked by our id, shows our id or our amount. An amount that the merchant
 * does not want compared counts only when it is exactly ours.
 */
export function namesPayment(result: GatewayResult, expected: Expectation, check: AmountCheck): boolean {
  if (result.conversationId === expected.conversationId) return true;
  // A dialect written in plain JavaScript may leave fields out.
  const isShown = (result.amount ?? null) !== null;
  return isShown && isAmountOurs(result, expected, check === 'off' ? 'exact' : check);
}

function isCurrencyOurs(result: GatewayResult, asked: number): boolean {
  const shown = result.currency;
  if (shown === null) return !isUnreadable(result, 'currency');
  return /^\d{1,3}$/.test(shown) && Number(shown) === asked;
}

function isAmountOurs(result: GatewayResult, expected: Expectation, check: AmountCheck): boolean {
  if (check === 'off') return true;
  if (result.amount === null) return !isUnreadable(result, 'amount');
  const difference = compareAmounts(result.amount, expected.amount);
  if (difference === null || difference < 0) return false;
  return difference === 0 || (check === 'notLess' && expected.installmentCount > 1);
}
