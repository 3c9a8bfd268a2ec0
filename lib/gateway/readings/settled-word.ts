import type { PaymentReason } from '../../payment/payment.js';
import type { DialectOperation, GatewayResult, InquiryResult } from '../gateway-dialect.js';
import type { GatewayReply } from '../transport/transmission.js';
import { inquiryOutcome, type InquiryRules, UNPAID_STATUSES } from './inquiry-outcome.js';
import { ReplyFields } from './reply-fields.js';
import { codeMeanings, type Expectation, isForeign, isSuccessStatus, isUnreadable } from './result-checks.js';

/**
 * What the gateway says about a payment or refund that is settled here.
 *
 * - `approved`: money moved, as it was asked for.
 * - `mismatch`: money moved, but the amount, the currency or a code is another one; `reason` says which.
 * - `declined`, `not_paid`: no money moved.
 * - `open`: no money has moved, and it may still do so.
 * - `not_found`: the gateway does not know it.
 * - `refunded`, `voided`: asked about a sale, it answers about a refund or void of it.
 * - `other_status`: the code approves, but the status next to it does not say success, nor that nothing was paid.
 * - `unclear`: an answer that says nothing clear about it, or cannot be read.
 * - `unanswered`: no answer, or an HTTP status that refuses the inquiry or says that the gateway is out of order.
 */
export type SettledWordKind =
  | 'approved'
  | 'mismatch'
  | 'declined'
  | 'not_paid'
  | 'open'
  | 'not_found'
  | 'refunded'
  | 'voided'
  | 'other_status'
  | 'unclear'
  | 'unanswered';

/** The gateway's word, with the parts of its answer that may be shown: nothing that could be a card or a secret. */
export interface SettledWord {
  readonly word: SettledWordKind;
  /** Why an approval is a `mismatch`; null otherwise. */
  readonly reason: PaymentReason | null;
  readonly code: string | null;
  /** In major units, as the answer shows it; null if it shows none. */
  readonly amount: string | null;
  /** As the answer shows it: ISO 4217, a number or letters; null if it shows none. */
  readonly currency: string | null;
}

export const UNANSWERED_WORD: SettledWord = {
  word: 'unanswered',
  reason: null,
  code: null,
  amount: null,
  currency: null,
};

const UNCLEAR_WORD: SettledWord = { ...UNANSWERED_WORD, word: 'unclear' };

const CODE = /^(?!.*\d{12})[A-Za-z0-9][A-Za-z0-9._-]{0,19}$/;
/** Too short for a card number. */
const AMOUNT = /^\d{1,12}(?:\.\d{1,8})?$/;
const CURRENCY = /^(?:\d{1,3}|[A-Za-z]{3})$/;

const REVERSALS: ReadonlyMap<string, 'refunded' | 'voided'> = new Map([
  ['REFUND', 'refunded'],
  ['VOID', 'voided'],
]);

/**
 * Reads the answer to a CheckPayment as {@link inquiryOutcome} does, and what settles nothing more closely: here it is
 * only compared, so that a word which must not change a payment may still be told.
 *
 * @param redact takes out what must not come back from the request
 */
export function settledWord(
  reply: GatewayReply,
  operation: DialectOperation<never, InquiryResult>,
  expected: Expectation,
  rules: InquiryRules,
  redact: (result: GatewayResult) => GatewayResult,
): SettledWord {
  if (!isSuccessStatus(reply.status) && !UNPAID_STATUSES.has(reply.status)) return UNANSWERED_WORD;
  const inquiry = inquiryOutcome(reply, operation, expected, rules);
  try {
    const fields = ReplyFields.parse(reply.text);
    const result = fields && operation.read(fields);
    if (!result?.code) return UNCLEAR_WORD;
    const shown = shownOf(redact(result));
    const say = (word: SettledWordKind): SettledWord => ({ ...shown, word });
    switch (inquiry.outcome) {
      case 'paid':
        return say('approved');
      case 'mismatch':
        return { ...say('mismatch'), reason: inquiry.charge.reason };
      case 'declined':
        return say('declined');
      case 'not_found':
        return say('not_found');
      case 'bare_approval':
        return say('unclear');
      case 'nothing':
        return say(unsettledWord(result, isSuccessStatus(reply.status), expected, rules));
    }
  } catch {
    // The dialect throws on this answer, which has been reported.
    return UNCLEAR_WORD;
  }
}

/** What an answer says that settles nothing. */
function unsettledWord(
  result: InquiryResult,
  isSuccess: boolean,
  expected: Expectation,
  { about, codes }: InquiryRules,
): SettledWordKind {
  if (isForeign(result, expected.conversationId) || about === 'refund') return 'unclear';
  const all = [result.code, result.resultCode].filter((code) => code !== null);
  const isUnknown = all.every((code) => codes.notFoundCodes.has(code) || codes.inquiryUnpaidCodes?.has(code) === true);
  if (isUnknown) return result.isSuccessful === true ? 'unclear' : 'not_found';
  if (!isSuccess || isUnreadable(result, 'transactionType')) return 'unclear';
  if (codeMeanings(result, codes).some((meaning) => meaning !== 'approved')) return 'unclear';
  const type = result.transactionType?.toUpperCase() ?? 'SALE';
  const reversal = REVERSALS.get(type);
  if (reversal) return result.isSuccessful === false ? 'unclear' : reversal;
  if (type !== 'SALE' || result.isSuccessful !== false) return 'unclear';
  if (result.isOpen === true) return 'open';
  return result.isUnpaid === true ? 'not_paid' : 'other_status';
}

function shownOf({ code, amount, currency }: GatewayResult): Omit<SettledWord, 'word'> {
  return {
    reason: null,
    code: fitting(code, CODE),
    amount: fitting(amount, AMOUNT),
    currency: fitting(currency, CURRENCY),
  };
}

/** @param text a dialect in plain JavaScript may give anything */
function fitting(text: unknown, form: RegExp): string | null {
  return typeof text === 'string' && form.test(text) ? text : null;
}
