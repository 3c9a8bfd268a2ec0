import { compareAmounts } from '../../payment/amount.js';
import type { Masker } from '../../payment/kept-text.js';
import { notAPromise, refusePromises } from '../../runtime/not-a-promise.js';
import type {
  AmountCheck,
  DecidingField,
  DialectOperation,
  GatewayResult,
  InquiryResult,
  ResultCodeSets,
} from '../gateway-dialect.js';
import { keptResult } from '../kept-result.js';
import type { Answer } from '../transport/attempt.js';
import { ReplyFields } from './reply-fields.js';
import type { ChargeFacts, InquiryFacts } from './verdicts.js';

/** The payment that an answer should be about. */
export interface Expectation {
  readonly conversationId: string;
  readonly amount: string;
  readonly currencyCode: number;
  readonly installmentCount: number;
  /** Amounts that an answer may show instead: it is not known whether a refund's answer shows its payment's. */
  readonly otherAmounts?: readonly string[];
}

/** What was asked, and by which rules the answer is read. */
export interface Question<Result extends GatewayResult = GatewayResult, Shown = unknown> {
  readonly expected: Expectation;
  readonly codes: ResultCodeSets;
  readonly verifyAmount: AmountCheck;
  /** Null if the signs of answers are not verified. */
  readonly isSignGood: ((fields: ReplyFields) => boolean) | null;
  /** Of an inquiry: its answer's type, status and text are read, too, by lists of codes that only inquiries have. */
  readonly about?: InquiryFacts['about'];
  /** Of an opening: what the answer has to show. */
  readonly show?: (result: Result, masker: Masker) => Shown | null;
  /** Keeps what the request carried out of what is kept of its answer. */
  readonly masker: Masker;
  /** Called with what the dialect threw while it read the answer, and in which of its parts. */
  readonly onThrow?: (part: string, error: unknown) => void;
}

/** What an answer shows, whatever was asked. */
export type AnswerFacts = Omit<ChargeFacts & InquiryFacts, 'mustName' | 'canAsk' | 'about'>;
type CodeKind = AnswerFacts['code'];

/** An answer that was read. What is kept and shown of it is null if there is none, or it cannot be read. */
export interface ReadAnswer<Shown> {
  readonly facts: AnswerFacts;
  readonly result: GatewayResult | null;
  readonly shown: Shown | null;
}

const NOTHING: AnswerFacts = {
  reply: 'read',
  http: '2xx',
  code: 'none',
  id: 'absent',
  currency: 'fits',
  amount: 'fits',
  sign: 'fits',
  names: 'neither',
  type: 'absent',
  status: 'none',
  text: 'none',
};
const REFUSED: readonly number[] = [401, 404, 405, 413, 415, 429];
const INVALID: readonly number[] = [400, 403];
/** They may answer a request that was carried out: a timeout and a conflict. */
const UNDECIDED: readonly number[] = [408, 409];

/**
 * Reads an answer. It never throws, since money may have moved: an answer is unreadable if a host's own dialect throws,
 * or returns something else than it should.
 */
export function readAnswer<Result extends GatewayResult, Shown>(
  answer: Answer,
  operation: Pick<DialectOperation<never, Result>, 'read'>,
  question: Question<Result, Shown>,
): ReadAnswer<Shown> {
  const nothing = { facts: NOTHING, result: null, shown: null };
  if (!answer.reply) {
    const hasNone = answer.cause === 'deadline' || answer.cause === 'connection_lost';
    return { ...nothing, facts: { ...NOTHING, reply: hasNone ? 'none' : 'unreadable' } };
  }
  const http = httpOf(answer.reply.status);
  const { codes, masker, isSignGood } = question;
  let part = 'read()';
  try {
    const fields = ReplyFields.parse(answer.reply.text);
    if (!fields) return { ...nothing, facts: { ...NOTHING, http } };
    const result = notAPromise(operation.read(fields), 'the result');
    if (typeof result !== 'object' || result === null) throw new TypeError('the result is no object');
    refusePromises(Object.values(result), 'a part of the result');
    part = 'the result of read(), or codes';
    const facts = { ...answerFacts(result, question), http };
    const shown = question.show?.(result, masker) ?? null;
    const kept = keptResult(result, masker, codes);
    part = 'verifySign()';
    // Only an approval needs a sign.
    const isGood: unknown =
      facts.code === 'approved' && isSignGood ? notAPromise(isSignGood(fields), 'what it returned') : true;
    if (typeof isGood !== 'boolean') throw new TypeError('what it returned is no boolean');
    return { facts: isGood ? facts : { ...facts, sign: 'bad' }, result: kept, shown };
  } catch (error) {
    question.onThrow?.(part, error);
    return { ...nothing, facts: { ...NOTHING, reply: 'unreadable', http } };
  }
}

function httpOf(status: number): AnswerFacts['http'] {
  if (status >= 200 && status < 300) return '2xx';
  if (REFUSED.includes(status)) return 'refused';
  if (INVALID.includes(status)) return 'invalid';
  if (status < 400 || UNDECIDED.includes(status)) return 'undecided';
  return status < 500 ? 'client' : 'server';
}

// What a dialect in plain JavaScript gives may be anything, and fields may be left out.

function answerFacts(
  result: GatewayResult,
  { expected, codes, verifyAmount, about }: Pick<Question, 'expected' | 'codes' | 'verifyAmount' | 'about'>,
): Omit<AnswerFacts, 'http'> {
  const inquiry: Partial<InquiryResult> = about ? result : {};
  // At the gateway's own page, the buyer may choose in how many instalments to pay (unverified).
  const count: unknown = about === 'page' ? inquiry.installmentCount : null;
  const isChosen = typeof count === 'string' && /^\d{1,3}$/.test(count);
  const wanted = isChosen ? { ...expected, installmentCount: Number(count) } : expected;
  const isIdOurs = result.conversationId === expected.conversationId;
  const amount = amountOf(result, wanted);
  const isAmountOurs = amount === 'ours' || (amount === 'more' && verifyAmount === 'notLess');
  // If the merchant has switched the comparison off, any amount fits, but only ours names the payment.
  const isOff = verifyAmount === 'off';
  const named = Number(isIdOurs) + Number(isAmountOurs || (isOff && isIdOurs));
  return {
    reply: 'read',
    code: codeOf(result, codes, about),
    id: isIdOurs ? 'ours' : isShown(result, 'conversationId') ? 'foreign' : 'absent',
    currency: isCurrencyOurs(result, expected.currencyCode) ? 'fits' : 'other',
    amount: isOff || isAmountOurs || amount === 'absent' ? 'fits' : 'other',
    sign: 'fits',
    names: (['neither', 'one', 'both'] as const)[named]!,
    type: typeOf(inquiry),
    status: statusOf(inquiry),
    text: textOf(inquiry.message, codes),
  };
}

function isUnreadable(result: Pick<GatewayResult, 'unreadable'>, field: DecidingField): boolean {
  return result.unreadable?.includes(field) ?? false;
}

/** Whether the answer shows the field, if only in a form that cannot be read. */
function isShown(result: GatewayResult, field: 'conversationId' | 'amount' | 'currency'): boolean {
  return (result[field] ?? null) !== null || isUnreadable(result, field);
}

/** From the most doubtful to the least. */
const DOUBTFUL = ['unreadable', 'indeterminate', 'unheard', 'declined'] as const satisfies CodeKind[];
const APPROVING: ReadonlySet<CodeKind> = new Set(['approved', 'variant']);

/** What both codes of an answer say together. */
function codeOf(result: GatewayResult, sets: ResultCodeSets, about: Question['about']): CodeKind {
  const [code = null, other = null] = [result.code, result.resultCode].map((each) => each || null);
  const kinds = new Set([code, other].filter((each) => each !== null).map((each) => kindOf(each, sets, about)));
  if (isUnreadable(result, 'code') || isUnreadable(result, 'resultCode')) kinds.add('unreadable');
  const doubtful = DOUBTFUL.find((kind) => kinds.has(kind));
  const isApproving = [...kinds].some((kind) => APPROVING.has(kind));
  // The second code is not the one that decides: alone, it can only cast doubt.
  const isUnclear = doubtful === 'unreadable' || doubtful === 'indeterminate';
  if (code === null) return isApproving || isUnclear ? 'unreadable' : 'none';
  const [first, ...others] = kinds;
  if (first && others.length === 0) return first;
  // An inquiry can be made again, so there is no need to look at what contradicts itself.
  if (about && isUnclear) return doubtful;
  return isApproving ? 'disagree' : (doubtful ?? 'unpaid');
}

function kindOf(code: unknown, sets: ResultCodeSets, about: Question['about']): CodeKind {
  if (typeof code !== 'string') return 'unreadable';
  // A host's own set may answer with a promise, which says nothing.
  const isIn = (set: ReadonlySet<string> | undefined): boolean => set?.has(code) === true;
  if (isIn(sets.approvedCodes)) return 'approved';
  if (isIn(sets.approvalVariantCodes)) return 'variant';
  const isCard = isIn(sets.inquiryDeclinedCodes);
  if (about) {
    // The lists for inquiries say more than those for all answers.
    if (isIn(sets.notFoundCodes)) return 'not_found';
    if (isCard) return 'card';
    if (isIn(sets.inquiryUnpaidCodes)) return 'unpaid';
  }
  if (isIn(sets.indeterminateCodes)) return 'indeterminate';
  const isDeclined = isIn(sets.declinedCodes) || sets.declinedPrefixes.some((prefix) => code.startsWith(prefix));
  if (!isDeclined) return 'unheard';
  return isCard ? 'card' : 'declined';
}

function isCurrencyOurs(result: GatewayResult, currencyCode: number): boolean {
  if (!isShown(result, 'currency')) return true;
  return /^\d{1,3}$/.test(result.currency ?? '') && Number(result.currency) === currencyCode;
}

/** With instalments, more than was asked for may be charged. */
function amountOf(result: GatewayResult, expected: Expectation): 'ours' | 'more' | 'absent' | 'other' {
  const { amount } = result;
  if (!isShown(result, 'amount')) return 'absent';
  if ((amount ?? null) === null) return 'other';
  const [difference, ...others] = [expected.amount, ...(expected.otherAmounts ?? [])].map((it) =>
    compareAmounts(amount!, it),
  );
  if (difference === 0 || others.includes(0)) return 'ours';
  return (difference ?? -1) > 0 && expected.installmentCount > 1 ? 'more' : 'other';
}

function typeOf(result: Partial<InquiryResult>): AnswerFacts['type'] {
  const type: unknown = result.transactionType ?? null;
  if (type === null) return isUnreadable(result, 'transactionType') ? 'other' : 'absent';
  const name = typeof type === 'string' ? type.toUpperCase() : '';
  if (name === 'SALE') return 'sale';
  return name === 'REFUND' || name === 'VOID' ? 'refund' : 'other';
}

function statusOf({ isSuccessful, isUnpaid, unreadable }: Partial<InquiryResult>): AnswerFacts['status'] {
  if (unreadable?.includes('transactionStatus')) return 'unreadable';
  if (isSuccessful === true) return 'success';
  if (isUnpaid === true) return 'unpaid';
  return (isSuccessful ?? null) === null ? 'none' : 'other';
}

function textOf(text: unknown, { approvedTexts }: Pick<ResultCodeSets, 'approvedTexts'>): AnswerFacts['text'] {
  if ((text ?? null) === null) return 'none';
  if (typeof text !== 'string') return 'other';
  const folded = foldCase(text);
  // The UTF-8 of a text may have been read as Latin-1.
  const isApproved = [...approvedTexts].some((approved) =>
    [approved, Buffer.from(approved).toString('latin1')].some((written) => folded === foldCase(written)),
  );
  return isApproved ? 'approved' : 'other';
}

/**
 * Lower case, with i, İ, ı and I as one letter: Turkish and English write upper and lower case of i differently. So is
 * ý, which is how an ı in ISO 8859-9 reads as Latin-1.
 */
function foldCase(text: string): string {
  return text.trim().toLowerCase().replace(/[ıý]/g, 'i').replaceAll('i\u0307', 'i');
}
