import { Injectable } from '@nestjs/common';
import { GatewayClient } from '../gateway/gateway-client.js';
import type { ChargeOutcome, InquiryOutcome } from '../gateway/readings/outcomes.js';
import { PaymentSettings } from '../options/payment-settings.js';
import type { PaymentRecord } from '../payment/payment.js';
import { isClaimed, factsOf } from '../payment/states.js';
import type { DateOrder } from '../payment/transaction-date.js';
import { advance, type PaymentChange } from '../payment/transitions.js';
import { Randomness } from '../runtime/randomness.js';
import { namesRecord, resultChanges, type TextRules } from './result-fields.js';

const MIN_INQUIRY_INTERVAL_MS = 15_000;
const MAX_INQUIRY_INTERVAL_MS = 4 * 3_600_000;
/** Two answers that nothing was paid settle a payment only if they came at least this far apart. */
export const UNPAID_CONFIRMED_AFTER_MS = 600_000;

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
  const shown = outcome.result ? resultChanges(outcome.result, record, rules, isOurs) : {};
  // A decline may repeat the requested amount, although nothing was charged.
  const isCharge = outcome.state === 'succeeded' || outcome.state === 'review';
  const change = isCharge ? shown : { ...shown, chargedAmount: record.chargedAmount };
  switch (record.state) {
    case 'charging':
    case 'authorizing':
    case 'refunding':
      return advance(
        record,
        outcome.state,
        { ...change, reason: outcome.reason, ...dueAfter(outcome, rules, now) },
        now,
      );
    case 'unknown':
      if (outcome.state !== 'unknown')
        return advance(
          record,
          outcome.state,
          { ...change, reason: outcome.reason, ...dueAfter(outcome, rules, now) },
          now,
        );
      return isUnbound(outcome) && !isUnbound(record)
        ? advance(record, 'unknown', { ...change, reason: 'unbound', dueAt: record.dueAt }, now)
        : null;
    case 'pending':
      return isCharge ? advance(record, outcome.state, { ...change, reason: outcome.reason }, now) : null;
    case 'failed':
    case 'expired':
      return isCharge || isUnbound(outcome)
        ? advance(record, 'review', { ...change, reason: outcome.reason ?? 'moved_after_all' }, now)
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

/** The record after an inquiry; null when nothing is to be stored. */
export function applyInquiry(
  record: PaymentRecord,
  inquiry: InquiryOutcome,
  rules: SettlementRules,
  { now, answeredAt }: AnswerTimes,
): PaymentRecord | null {
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

/**
 * An inquiry asks by our id, so its answer need not repeat it. But ids of an earlier answer that were not ours stay
 * unproven, unless this one shows all of its own.
 */
function isOursByInquiry({ result }: ChargeOutcome, record: PaymentRecord): boolean {
  if (!result || !namesRecord({ ...result, conversationId: result.conversationId ?? record.conversationId }, record)) {
    return false;
  }
  const showsAll = [result.orderId, result.paymentId, result.amount].every((part) => (part ?? null) !== null);
  return showsAll || record.isUnproven !== true;
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

/**
 * When what ended without money is asked about once more. A page that was left open may be paid late; and a request
 * that was refused, or of which the gateway knew nothing, may have been carried out after all.
 */
const LATE_HOURS = { page: [1, 6, 24, 48, 72], request: [1, 24] } as const;
const HOUR_MS = 3_600_000;
/** An answer that says neither is no late one: it is made up for, of a page each hour for a week. */
const MAX_UNCLEAR_PAGE_MS = 7 * 24 * HOUR_MS;
/** Of a request, so often after so long. */
const MAX_UNCLEAR_REQUEST = 3;
const UNCLEAR_REQUEST_MS = HOUR_MS / 3;

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
  const { reason, by = null, kind } = record;
  const inquiries = isClear ? 0 : record.inquiries + 1;
  const isAgain = !isClear && (kind === 'hosted' || inquiries <= MAX_UNCLEAR_REQUEST);
  const next = isAgain ? askUnclearAgain(record, now) : nextLateInquiry(record, now);
  const dueAt = canInquire ? next : null;
  // A callback may ask at any time, and as often as its sender likes.
  if (dueAt?.getTime() === record.dueAt.getTime()) return null;
  return advance(record, record.state, { reason, by, inquiries: isAgain ? inquiries : 0, dueAt }, now);
}

function askUnclearAgain({ kind, finalizedAt }: PaymentRecord, now: Date): Date | null {
  if (kind !== 'hosted') return new Date(now.getTime() + UNCLEAR_REQUEST_MS);
  const next = new Date(now.getTime() + HOUR_MS);
  return next.getTime() - (finalizedAt ?? now).getTime() < MAX_UNCLEAR_PAGE_MS ? next : null;
}

function nextLateInquiry({ kind, finalizedAt }: PaymentRecord, now: Date): Date | null {
  const endedAt = (finalizedAt ?? now).getTime();
  const late = LATE_HOURS[kind === 'hosted' ? 'page' : 'request'].map((hours) => endedAt + hours * HOUR_MS);
  const next = late.find((at) => at > now.getTime());
  return next === undefined ? null : new Date(next);
}
