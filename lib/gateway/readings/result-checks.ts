import { compareAmounts } from '../../payment/amount.js';
import type { PaymentReason } from '../../payment/payment.js';
import type { AmountCheck, DecidingField, GatewayResult, ResultCodeSets } from '../gateway-dialect.js';
import type { ReplyFields } from './reply-fields.js';

/** The payment that an answer should be about. An approval that contradicts it is not believed. */
export interface Expectation {
  readonly conversationId: string;
  readonly amount: string;
  readonly currencyCode: number;
  readonly installmentCount: number;
  /** Amounts that an answer may show instead: it is not known whether a refund's answer shows its payment's. */
  readonly otherAmounts?: readonly string[];
}

/** The rules by which any answer is judged. */
export interface ReadingRules {
  readonly codes: ResultCodeSets;
  readonly verifyAmount: AmountCheck;
  /** Null if the signs of answers are not verified. */
  readonly isSignGood: ((fields: ReplyFields) => boolean) | null;
  /** Called with what the dialect threw while it read the answer. */
  readonly onThrow?: (error: unknown) => void;
}

/** What a code says about the money. */
export type CodeMeaning = 'approved' | 'variant' | 'declined' | 'indeterminate' | 'unrecognised';

export function isSuccessStatus(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Why there is no page for the buyer, when the HTTP status does not say success. */
export function failureOf(status: number): PaymentReason {
  return status < 500 ? 'refused' : 'server_error';
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

/** What each code of an answer means. An unreadable code counts as indeterminate. */
export function codeMeanings(result: GatewayResult, sets: ResultCodeSets): CodeMeaning[] {
  const codes = [result.code, result.resultCode].filter((code) => code !== null);
  const meanings = codes.map((code) => codeMeaning(code, sets));
  if (isUnreadable(result, 'code') || isUnreadable(result, 'resultCode')) meanings.push('indeterminate');
  return meanings;
}

/** Whether the answer says that it is about another payment. */
export function isForeign(result: GatewayResult, conversationId: string): boolean {
  // A dialect in plain JavaScript may leave fields out.
  const isShown = (result.conversationId ?? null) !== null || isUnreadable(result, 'conversationId');
  return isShown && result.conversationId !== conversationId;
}

export function isUnreadable(result: GatewayResult, field: DecidingField): boolean {
  return result.unreadable?.includes(field) ?? false;
}

/** How an approval contradicts the request; null if it agrees, or does not show enough to tell. */
export function contradictionOf(
  fields: ReplyFields,
  result: GatewayResult,
  expected: Expectation,
  rules: ReadingRules,
): PaymentReason | null {
  if (isForeign(result, expected.conversationId)) return 'conversation_mismatch';
  if (!isCurrencyOurs(result, expected.currencyCode)) return 'currency_mismatch';
  if (!isAmountOurs(result, expected, rules.verifyAmount)) return 'amount_mismatch';
  // A dialect in plain JavaScript may return a promise, which does not count as true.
  if (rules.isSignGood && rules.isSignGood(fields) !== true) return 'sign_mismatch';
  return null;
}

/**
 * Whether an approval that contradicts nothing names the payment: it shows its conversationId and, unless the merchant
 * has switched the comparison of amounts off, its amount.
 */
export function isBound(result: GatewayResult, { conversationId }: Expectation, check: AmountCheck): boolean {
  // A dialect in plain JavaScript may leave fields out.
  return result.conversationId === conversationId && (check === 'off' || (result.amount ?? null) !== null);
}

/**
 * Whether an approval in the answer to an inquiry shows our id or our amount. One is enough, because inquiries ask by
 * our id. If the merchant has switched the comparison of amounts off, the amount must be exactly ours.
 */
export function namesPayment(result: GatewayResult, expected: Expectation, check: AmountCheck): boolean {
  if (result.conversationId === expected.conversationId) return true;
  // A dialect in plain JavaScript may leave fields out.
  const isShown = (result.amount ?? null) !== null;
  return isShown && isAmountOurs(result, expected, check === 'off' ? 'exact' : check);
}

function isCurrencyOurs(result: GatewayResult, currencyCode: number): boolean {
  const shown = result.currency;
  if (shown === null) return !isUnreadable(result, 'currency');
  return /^\d{1,3}$/.test(shown) && Number(shown) === currencyCode;
}

function isAmountOurs(result: GatewayResult, expected: Expectation, check: AmountCheck): boolean {
  if (check === 'off') return true;
  if (result.amount === null) return !isUnreadable(result, 'amount');
  const { amount } = result;
  if (expected.otherAmounts?.some((other) => compareAmounts(amount, other) === 0)) return true;
  const difference = compareAmounts(amount, expected.amount);
  if (difference === null || difference < 0) return false;
  return difference === 0 || (check === 'notLess' && expected.installmentCount > 1);
}
