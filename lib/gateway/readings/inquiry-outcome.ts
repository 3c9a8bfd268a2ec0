import { recoded } from '../../payment/own-bytes.js';
import type { DialectOperation, InquiryResult, ResultCodeSets } from '../gateway-dialect.js';
import type { GatewayReply } from '../transport/transmission.js';
import type { ChargeOutcome } from './charge-outcome.js';
import { ReplyFields } from './reply-fields.js';
import {
  type CodeMeaning,
  codeMeanings,
  contradictionOf,
  type Expectation,
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
  | { readonly outcome: 'not_found' }
  | {
      readonly outcome: 'nothing';
      /**
       * Whether the answer can be read, and has a code that neither approves nor is indeterminate. Once the time of the
       * gateway's own page is over, two such answers say that it was not paid.
       */
      readonly isUnpaid?: boolean;
    };

/** The rules by which the answer to an inquiry is judged. */
export interface InquiryRules extends ReadingRules {
  /**
   * What the inquiry is about. The answer about a sale need not show its type. The answer about a refund must: a
   * gateway that does not know refunds might answer about the sale.
   */
  readonly about: 'sale' | 'refund';
}

const TYPES = { sale: ['SALE'], refund: ['REFUND', 'VOID'] } as const;

const NOTHING = { outcome: 'nothing' } as const;
const UNPAID = { outcome: 'nothing', isUnpaid: true } as const;
/** HTTP statuses by which a gateway may say that it knows no such payment. Others refuse the inquiry itself. */
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
    if (isSuccess) return inquiryFromResult(fields, result, result.code, expected, rules);
    return isForeign(result, expected.conversationId) ? NOTHING : unlessApproved(codeMeanings(result, rules.codes));
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
  if (isForeign(result, expected.conversationId) || !isAbout(rules.about, result)) return NOTHING;
  const meanings = codeMeanings(result, rules.codes);
  const isAgreed = result.resultCode === null || result.resultCode === code;
  if (!isAgreed || new Set(meanings).size !== 1) return NOTHING;
  if (meanings[0] === 'approved') {
    if (result.isSuccessful === false) return UNPAID;
    const paid = expected.mayChooseInstallments ? withChosenInstallments(expected, result) : expected;
    const reason = contradictionOf(fields, result, paid, rules);
    if (reason) return { outcome: 'mismatch', charge: { state: 'review', reason, result } };
    const isBound = namesPayment(result, paid, rules.verifyAmount);
    // The code may mean only that the inquiry itself succeeded.
    const saysMore = isBound || result.isSuccessful === true || isApprovedText(result.message, rules.codes);
    return saysMore ? { outcome: 'paid', isBound, charge: { state: 'succeeded', reason: null, result } } : NOTHING;
  }
  if (rules.codes.notFoundCodes.has(code)) return { outcome: 'not_found' };
  // The status next to the code contradicts it.
  if (result.isSuccessful === true) return NOTHING;
  if (rules.codes.inquiryDeclinedCodes.has(code)) {
    return { outcome: 'declined', charge: { state: 'failed', reason: 'declined', result } };
  }
  return unlessApproved(meanings);
}

function withChosenInstallments(expected: Expectation, { installmentCount }: InquiryResult): Expectation {
  // A dialect in plain JavaScript may give anything.
  const isShown = typeof installmentCount === 'string' && /^\d{1,3}$/.test(installmentCount);
  return isShown ? { ...expected, installmentCount: Number(installmentCount) } : expected;
}

function unlessApproved(meanings: readonly CodeMeaning[]): InquiryOutcome {
  const isUnpaid = meanings.every((meaning) => meaning === 'declined' || meaning === 'unrecognised');
  return isUnpaid ? UNPAID : NOTHING;
}

/** Whether the answer is about what was asked: a void of a payment, for example, says nothing about its sale. */
function isAbout(about: InquiryRules['about'], result: InquiryResult): boolean {
  const type = result.transactionType;
  if (type === null) return about === 'sale' && !isUnreadable(result, 'transactionType');
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
  return recoded(text, 'utf8', 'latin1');
}
