import { Injectable } from '@nestjs/common';
import { GatewayClient } from '../gateway/gateway-client.js';
import type { ChargeOutcome, InquiryOutcome } from '../gateway/readings/verdicts.js';
import { PaymentSettings } from '../options/payment-settings.js';
import type { PaymentReason, PaymentRecord } from '../payment/payment.js';
import { isClaimed, factsOf } from '../payment/states.js';
import type { DateOrder } from '../payment/transaction-date.js';
import { advance, type PaymentChange } from '../payment/transitions.js';
import { Randomness } from '../runtime/randomness.js';
import { namesRecord, resultChanges, type TextRules } from './result-fields.js';

const MIN_INQUIRY_INTERVAL_MS = 15_000;
const MAX_INQUIRY_INTERVAL_MS = 4 * 3_600_000;
/** Two answers that nothing was paid settle a payment only if they came at least this far apart. */
export const UNPAID_CONFIRMED_AFTER_MS = 600_000;

/** With these reasons the answer may be about another payment, even if it names this one, and so may what it shows. */
const FOREIGN: ReadonlySet<PaymentReason> = new Set([
  'conversation_mismatch',
  'currency_mismatch',
  'unbound',
  'sign_mismatch',
]);

/** Applies a known outcome to the current record; null when it changes nothing. */
export type Settlement = (record: PaymentRecord, now: Date) => PaymentRecord | null;

/** What the settlement depends on, besides the payment. */
@Injectable()
export class SettlementRules implements TextRules {
  readonly dateOrder: DateOrder;
  /** Whether the gateway can be asked for an outcome. */
  readonly canInquire: boolean;

  constructor(
    settings: PaymentSettings,
    gateway: GatewayClient,
    /** Spreads inquiries over time. */
    readonly random: Randomness,
  ) {
    this.dateOrder = settings.dateOrder;
    this.canInquire = gateway.canInquire;
  }
}

/**
 * The record after the outcome of a request that moves money; null when nothing changes. The record may have changed
 * while the request ran: an approval is never lost, not even one that may belong to another payment, and a decline
 * never overwrites.
 */
export function applyOutcome(
  record: PaymentRecord,
  outcome: ChargeOutcome,
  rules: SettlementRules,
  now: Date,
  isOurs?: boolean,
): PaymentRecord | null {
  const { state, reason } = outcome;
  const isForeign = reason !== null && FOREIGN.has(reason);
  const shown = {
    ...(outcome.result && resultChanges(outcome.result, record, rules, isOurs)),
    ...(isForeign && { isUnproven: true }),
  };
  // A decline may repeat the requested amount, although nothing was charged.
  const isCharge = outcome.state === 'succeeded' || outcome.state === 'review';
  const change = isCharge ? shown : { ...shown, chargedAmount: record.chargedAmount };
  const settled = () => advance(record, state, { ...change, reason, ...dueAfter(outcome, rules, now) }, now);
  switch (record.state) {
    case 'charging':
    case 'authorizing':
    case 'refunding':
      return settled();
    case 'unknown':
      if (state !== 'unknown') return settled();
      return isUnbound(outcome) && !isUnbound(record)
        ? advance(record, 'unknown', { ...change, reason: 'unbound', dueAt: record.dueAt }, now)
        : null;
    case 'pending':
      return isCharge ? settled() : null;
    case 'failed':
    case 'expired':
      return isCharge || isUnbound(outcome)
        ? advance(record, 'review', { ...change, reason: reason ?? 'moved_after_all' }, now)
        : null;
    case 'initiating':
    case 'awaiting':
    case 'review':
    case 'succeeded':
      return null;
  }
}

/** Whether an answer says otherwise of a payment that counts as paid, which never changes. */
export function contradicts({ state }: Pick<ChargeOutcome, 'state'>, record: PaymentRecord): boolean {
  return record.state === 'succeeded' && (state === 'failed' || state === 'review');
}

/** When an answer was received, and when it is stored: the record may have changed in between. */
export interface AnswerTimes {
  readonly answeredAt: Date;
  readonly now: Date;
}

/**
 * The record after an inquiry; null when nothing is to be stored.
 *
 * @param answer null when none came
 */
export function applyInquiry(
  record: PaymentRecord,
  answer: InquiryOutcome | null,
  rules: SettlementRules,
  { now, answeredAt }: AnswerTimes,
): PaymentRecord | null {
  // Silence about what ended without money is made up for a few times.
  if (!answer && !factsOf(record.state).settled) return null;
  const inquiry = answer ?? { outcome: 'unanswered' };
  if (inquiry.outcome === 'paid' && isConfirmation(inquiry, record)) {
    return applyOutcome(record, inquiry.charge, rules, now, isOursByInquiry(inquiry.charge, record));
  }
  if (inquiry.outcome === 'mismatch' && !isClaimed(record.state))
    return applyOutcome(record, inquiry.charge, rules, now, isOursByInquiry(inquiry.charge, record));
  if (record.state === 'failed') return askedLate(record, saysUnpaid(inquiry), rules, now);
  if (record.state !== 'unknown') return null;
  if (inquiry.outcome === 'declined') return applyOutcome(record, inquiry.charge, rules, now);
  // "Not found" proves nothing after an approval that may have been this payment's.
  if (inquiry.outcome === 'not_found' && isSecondAnswer(record, answeredAt) && !isUnbound(record)) {
    return advance(record, 'failed', { reason: 'not_found', ...toBeAskedLate(now) }, now);
  }
  const askedAgain: PaymentChange = {
    reason: record.reason,
    inquiries: record.inquiries + 1,
    notFoundAt: notFoundSince(record, inquiry, answeredAt),
    dueAt: nextInquiry(now, record.inquiries + 1, rules.random),
  };
  return advance(record, 'unknown', askedAgain, now);
}

/** Whether the gateway's word is that nothing has been paid so far. */
export function saysUnpaid(inquiry: InquiryOutcome | null): boolean {
  return inquiry !== null && ['unpaid', 'declined', 'not_found'].includes(inquiry.outcome);
}

/** Since when the gateway has said in a row that it knows no such payment. Any other answer begins the row again. */
function notFoundSince(record: PaymentRecord, { outcome }: InquiryOutcome, answeredAt: Date): Date | null {
  if (outcome === 'not_found') return record.notFoundAt ?? answeredAt;
  return outcome === 'unanswered' ? record.notFoundAt : null;
}

/** An inquiry asks by our id, so its answer need not repeat it. */
function isOursByInquiry({ result }: ChargeOutcome, record: PaymentRecord): boolean {
  if (!result) return false;
  return namesRecord({ ...result, conversationId: result.conversationId ?? record.conversationId }, record);
}

/** The record of a payment for which the gateway gave no page; null if it is not being started any more. */
export function endWithoutPage(
  record: PaymentRecord,
  { reason, result }: Pick<ChargeOutcome, 'reason' | 'result'>,
  rules: TextRules,
  now: Date,
): PaymentRecord | null {
  if (record.state !== 'initiating') return null;
  return advance(record, 'failed', { ...(result && resultChanges(result, record, rules)), reason }, now);
}

/** The record once it is proven that its request was never sent; null when the record contradicts that by now. */
export function applyNotSent(record: PaymentRecord, now: Date): PaymentRecord | null {
  // The claim of an `unknown` payment ran out while its request was still held back.
  if (!factsOf(record.state).requesting && record.state !== 'unknown') return null;
  return advance(record, 'failed', { reason: 'not_sent' }, now);
}

/**
 * When to ask the gateway again: after 15 seconds at first, then after twice as long each time, up to four hours. Each
 * time varies by up to a fifth, so that inquiries do not come all at once.
 */
export function nextInquiry(now: Date, inquiries: number, random: Randomness): Date {
  const wait = Math.min(MIN_INQUIRY_INTERVAL_MS * 2 ** Math.min(inquiries, 20), MAX_INQUIRY_INTERVAL_MS);
  return new Date(now.getTime() + variedBy(random, wait));
}

/** A time that varies by up to a fifth, so that what is due does not come all at once. */
export function variedBy(random: Randomness, ms: number): number {
  return Math.round(ms * (0.8 + 0.4 * random.fraction()));
}

/**
 * Whether an inquiry's approval settles the payment. If Auth3d has approved something that may be another payment, or
 * has not answered yet, the approval must show our id or our amount.
 */
function isConfirmation({ isBound }: { readonly isBound: boolean }, record: PaymentRecord): boolean {
  return isBound || !(isUnbound(record) || record.state === 'authorizing');
}

export function isSecondAnswer(record: PaymentRecord, answeredAt: Date): boolean {
  return record.notFoundAt !== null && answeredAt.getTime() - record.notFoundAt.getTime() >= UNPAID_CONFIRMED_AFTER_MS;
}

/** Whether Auth3d approved something that may or may not be this payment. */
function isUnbound({ reason }: Pick<ChargeOutcome, 'reason'>): boolean {
  return reason === 'unbound';
}

/** A card's plain decline is believed. Of any other the gateway is asked once more. */
function dueAfter(
  { state, isPlain }: ChargeOutcome,
  { canInquire, random }: SettlementRules,
  now: Date,
): PaymentChange {
  // Where this instance cannot ask, it is due at once for one that can.
  if (state === 'unknown') return { dueAt: canInquire ? nextInquiry(now, 0, random) : now };
  return state === 'failed' && !isPlain && canInquire ? toBeAskedLate(now) : {};
}

const HOUR_MS = 3_600_000;

/** When what ended without money is asked about once more. */
interface LateInquiries {
  /** How many hours after its end. */
  readonly hours: readonly number[];
  /** After how long it is asked again when an answer was unclear. */
  readonly unclearMs: number;
  /** How often that may happen. */
  readonly maxUnclear: number;
  /** Until how long after the end that may happen. */
  readonly maxUnclearMs: number;
}

/**
 * A page that was left open may be paid late; and a request that was refused, or of which the gateway knew nothing, may
 * have been carried out after all.
 */
const LATE: Readonly<Record<'page' | 'request', LateInquiries>> = {
  page: { hours: [1, 6, 24, 48, 72], unclearMs: HOUR_MS, maxUnclear: Infinity, maxUnclearMs: 7 * 24 * HOUR_MS },
  request: { hours: [1, 24], unclearMs: HOUR_MS / 3, maxUnclear: 3, maxUnclearMs: Infinity },
};

/** What is stored of a payment or refund that ends at this moment, if it is to be asked about once more. */
export function toBeAskedLate(endedAt: Date): { readonly dueAt: Date; readonly inquiries: number } {
  return { dueAt: new Date(endedAt.getTime() + HOUR_MS), inquiries: 0 };
}

/**
 * The record of what ended without money after the gateway has not approved it; null when nothing is to be stored.
 *
 * @param isClear whether the answer says that nothing was paid
 */
export function askedLate(
  record: PaymentRecord,
  isClear: boolean,
  { canInquire }: { readonly canInquire: boolean },
  now: Date,
): PaymentRecord | null {
  // Someone asked who need not have: nothing is planned.
  if (record.dueAt === null) return null;
  const { state, reason, by, kind, finalizedAt } = record;
  const late = LATE[kind === 'hosted' ? 'page' : 'request'];
  const endedAt = (finalizedAt ?? now).getTime();
  const unclear = isClear ? 0 : record.inquiries + 1;
  const isAgain = unclear > 0 && unclear <= late.maxUnclear;
  const again = now.getTime() + late.unclearMs;
  let next = late.hours.map((hours) => endedAt + hours * HOUR_MS).find((at) => at > now.getTime());
  if (isAgain) next = again - endedAt < late.maxUnclearMs ? again : undefined;
  const dueAt = next === undefined || !canInquire ? null : new Date(next);
  // A callback may ask at any time, and as often as its sender likes.
  if (dueAt?.getTime() === record.dueAt.getTime()) return null;
  return advance(record, state, { reason, by, inquiries: isAgain ? unclear : 0, dueAt }, now);
}
