import type { PaymentReason } from '../../payment/payment.js';
import type { DialectOperation, InquiryResult, ResultCodeSets } from '../gateway-dialect.js';
import type { GatewayReply } from '../transport/transmission.js';
import type { ChargeOutcome } from './charge-outcome.js';
import { ReplyFields } from './reply-fields.js';
import {
  type CodeMeaning,
  codeMeanings,
  contradictionOf,
  type Expectation,
  isBound,
  isForeign,
  isSuccessStatus,
  isUnreadable,
  namesPayment,
  type ReadingRules,
} from './result-checks.js';

/** What the answer to a CheckPayment shows. `nothing`: nothing that settles the payment; ask again later. */
export type InquiryOutcome =
  | {
      readonly outcome: 'paid';
      /** Whether the answer shows our id or our amount. If not, it cannot confirm an approval that names no payment. */
      readonly isBound: boolean;
      readonly charge: ChargeOutcome;
    }
  | { readonly outcome: 'declined' | 'mismatch'; readonly charge: ChargeOutcome }
  /** Of the gateway's own page: the code approves, but may mean only that the inquiry itself succeeded. */
  | { readonly outcome: 'bare_approval'; readonly charge: ChargeOutcome }
  | { readonly outcome: 'not_found' }
  | {
      readonly outcome: 'nothing';
      /** Of the gateway's own page: the answer says that it has not been paid so far. */
      readonly isUnpaid?: boolean;
    };

/** The rules by which the answer to an inquiry is judged. */
export interface InquiryRules extends ReadingRules {
  /**
   * What the inquiry is about. The answer about a sale need not show its type. The answer about a refund must: a
   * gateway that does not know refunds might answer about the sale. A `page` is a sale at the gateway's own page, which
   * is asked about long before anyone has paid there.
   */
  readonly about: 'sale' | 'page' | 'refund';
}

const TYPES = { sale: ['SALE'], page: ['SALE'], refund: ['REFUND', 'VOID'] } as const;

const NOTHING = { outcome: 'nothing' } as const;
const UNPAID = { outcome: 'nothing', isUnpaid: true } as const;
/** HTTP statuses with which a code may say that the gateway knows no such payment. Others refuse the inquiry itself. */
const UNPAID_STATUSES: ReadonlySet<number> = new Set([400, 404, 422]);

/** Reads the answer to a CheckPayment. Only a clear answer settles a payment: an HTTP 404, for example, is not. */
export function inquiryOutcome(
  reply: GatewayReply,
  operation: DialectOperation<never, InquiryResult>,
  expected: Expectation,
  rules: InquiryRules,
): InquiryOutcome {
  try {
    const isSuccess = isSuccessStatus(reply.status);
    const fields = isSuccess || UNPAID_STATUSES.has(reply.status) ? ReplyFields.parse(reply.text) : null;
    const result = fields && operation.read(fields);
    if (!fields || !result?.code) return NOTHING;
    if (!isSuccess) return rules.about === 'page' && isListedUnpaid(result, expected, rules) ? UNPAID : NOTHING;
    if (isForeign(result, expected.conversationId) || !isAbout(rules.about, result)) return NOTHING;
    const read = rules.about === 'page' ? pageFromResult : inquiryFromResult;
    return read(fields, result, result.code, expected, rules);
  } catch (error) {
    // A host's own dialect may throw while it reads.
    rules.onThrow?.(error);
    return NOTHING;
  }
}

function inquiryFromResult(
  fields: ReplyFields,
  result: InquiryResult,
  code: string,
  expected: Expectation,
  rules: InquiryRules,
): InquiryOutcome {
  const meanings = codeMeanings(result, rules.codes);
  const isAgreed = result.resultCode === null || result.resultCode === code;
  if (!isAgreed || new Set(meanings).size !== 1) return NOTHING;
  if (meanings[0] === 'approved') {
    if (result.isSuccessful === false) return NOTHING;
    const reason = contradictionOf(fields, result, expected, rules);
    if (reason) return { outcome: 'mismatch', charge: { state: 'review', reason, result } };
    const isNamed = namesPayment(result, expected, rules.verifyAmount);
    // The code may mean only that the inquiry itself succeeded.
    const saysMore = isNamed || result.isSuccessful === true || isApprovedText(result.message, rules.codes);
    return saysMore
      ? { outcome: 'paid', isBound: isNamed, charge: { state: 'succeeded', reason: null, result } }
      : NOTHING;
  }
  if (rules.codes.inquiryDeclinedCodes.has(code)) {
    // The status next to the code contradicts it.
    if (result.isSuccessful === true) return NOTHING;
    return { outcome: 'declined', charge: { state: 'failed', reason: 'declined', result } };
  }
  return rules.codes.notFoundCodes.has(code) ? { outcome: 'not_found' } : NOTHING;
}

/**
 * The answer about the gateway's own page. Whatever approves is told, at the least for a review. That it was not paid is
 * believed of codes that say so, and of codes that nothing is known of, with which a gateway may say "pending" for ever.
 */
function pageFromResult(
  fields: ReplyFields,
  result: InquiryResult,
  code: string,
  expected: Expectation,
  rules: InquiryRules,
): InquiryOutcome {
  const meanings = codeMeanings(result, rules.codes);
  if (meanings.includes('indeterminate')) return NOTHING;
  if (meanings.some((meaning) => meaning === 'approved' || meaning === 'variant')) {
    return approvalOfPage(fields, result, meanings, withChosenInstallments(expected, result), rules);
  }
  if (rules.codes.notFoundCodes.has(code)) return { outcome: 'not_found' };
  if (result.isSuccessful === true) return NOTHING;
  if (rules.codes.inquiryDeclinedCodes.has(code)) {
    return { outcome: 'declined', charge: { state: 'failed', reason: 'declined', result } };
  }
  const isUnheardOf = meanings.every((meaning) => meaning === 'unrecognised');
  return isUnheardOf || isListedUnpaid(result, expected, rules) ? UNPAID : NOTHING;
}

function approvalOfPage(
  fields: ReplyFields,
  result: InquiryResult,
  meanings: readonly CodeMeaning[],
  expected: Expectation,
  rules: InquiryRules,
): InquiryOutcome {
  const isPlain = !meanings.some((meaning) => meaning !== 'approved');
  if (isPlain && result.isUnpaid === true) return UNPAID;
  const reason = isPlain ? contradictionOf(fields, result, expected, rules) : disagreementOf(meanings);
  if (reason) return { outcome: 'mismatch', charge: { state: 'review', reason, result } };
  // Beside another text, its id and amount may be those that were asked for, shown before anything was paid.
  const isShown = (result.message ?? null) === null && isBound(result, expected, rules.verifyAmount);
  const isSaid = result.isSuccessful === true || isApprovedText(result.message, rules.codes) || isShown;
  if (result.isSuccessful === false || !isSaid) {
    return { outcome: 'bare_approval', charge: { state: 'review', reason: 'moved_after_all', result } };
  }
  const isNamed = namesPayment(result, expected, rules.verifyAmount);
  return { outcome: 'paid', isBound: isNamed, charge: { state: 'succeeded', reason: null, result } };
}

function disagreementOf(meanings: readonly CodeMeaning[]): PaymentReason {
  return meanings.every((meaning) => meaning === 'variant') ? 'approval_variant' : 'codes_disagree';
}

/** Whether the code is one of those that say that nothing was paid. */
function isListedUnpaid(result: InquiryResult, { conversationId }: Expectation, { codes }: InquiryRules): boolean {
  if (isForeign(result, conversationId)) return false;
  const shown = [result.code, result.resultCode].filter((code) => code !== null);
  return shown.every((code) => codes.notFoundCodes.has(code) || codes.inquiryUnpaidCodes?.has(code) === true);
}

function withChosenInstallments(expected: Expectation, { installmentCount }: InquiryResult): Expectation {
  // A dialect in plain JavaScript may give anything.
  const isShown = typeof installmentCount === 'string' && /^\d{1,3}$/.test(installmentCount);
  return isShown ? { ...expected, installmentCount: Number(installmentCount) } : expected;
}

/** Whether the answer is about what was asked: a void of a payment, for example, says nothing about its sale. */
function isAbout(about: InquiryRules['about'], result: InquiryResult): boolean {
  const type = result.transactionType;
  if (type === null) return about !== 'refund' && !isUnreadable(result, 'transactionType');
  return TYPES[about].some((name) => name === type.toUpperCase());
}

/** Whether the text of an answer says approved. */
function isApprovedText(text: unknown, { approvedTexts }: Pick<ResultCodeSets, 'approvedTexts'>): boolean {
  // What a dialect in plain JavaScript gives may be anything.
  if (typeof text !== 'string') return false;
  const folded = foldCase(text);
  return [...approvedTexts].some(
    (approved) => folded === foldCase(approved) || folded === foldCase(mojibakeOf(approved)),
  );
}

/**
 * Lower case, with i, İ, ı and I as one letter: Turkish and English write upper and lower case of i differently. So is
 * ý, which is how an ı in ISO 8859-9 reads as Latin-1.
 */
function foldCase(text: string): string {
  return text.trim().toLowerCase().replace(/[ıý]/g, 'i').replaceAll('i\u0307', 'i');
}

/** How the UTF-8 of a text reads as Latin-1. */
function mojibakeOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}
