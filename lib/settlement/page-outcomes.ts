import type { InquiryOutcome } from '../gateway/readings/verdicts.js';
import type { PaymentReason, PaymentRecord } from '../payment/payment.js';
import type { Randomness } from '../runtime/randomness.js';
import { advance, type PaymentChange } from '../payment/transitions.js';
import {
  type AnswerTimes,
  applyInquiry,
  applyOutcome,
  askedLate,
  isSecondAnswer,
  nextInquiry,
  saysUnpaid,
  type SettlementRules,
  toBeAskedLate,
  UNPAID_CONFIRMED_AFTER_MS,
  variedBy,
} from './outcomes.js';
import { resultChanges } from './result-fields.js';

/** A gateway that has said nothing for so long after the page's end may have been paid: a person has to know. */
const MAX_SILENCE_MS = 86_400_000;
const MIN_WAIT_MS = 60_000;
const MAX_WAIT_MS = 4 * 3_600_000;

/**
 * The record of a payment at the gateway's own page after the gateway was asked about it; null when nothing is to be
 * stored. Only the gateway's word ends such a payment: an approval at any time; and once the page's time is over, two
 * answers, ten minutes apart, that nothing was paid.
 *
 * @param answer null when none came
 */
export function applyPageInquiry(
  record: PaymentRecord,
  answer: InquiryOutcome | null,
  rules: SettlementRules,
  times: AnswerTimes,
): PaymentRecord | null {
  const inquiry = answer?.outcome === 'unanswered' ? null : answer;
  if (inquiry?.outcome === 'paid' || inquiry?.outcome === 'mismatch') {
    return applyInquiry(record, inquiry, rules, times);
  }
  const { answeredAt, now } = times;
  if (record.state === 'expired' || record.state === 'failed') {
    // Whatever approves it now is for a person to look at.
    if (inquiry?.outcome === 'approval') return applyOutcome(record, inquiry.charge, rules, now);
    return inquiry && askedLate(record, saysUnpaid(inquiry), rules, now);
  }
  if (record.state !== 'pending' && record.state !== 'unknown') return null;
  const isOver = record.expiresAt !== null && answeredAt >= record.expiresAt;
  const isUnpaid = saysUnpaid(inquiry);
  if (isUnpaid && isOver && isSecondAnswer(record, answeredAt)) return endPage(record, null, rules, now);
  if (!isUnpaid && isSilentTooLong(record, answeredAt)) {
    return advance(record, 'unknown', { reason: 'no_answer', dueAt: nextInquiry(now, 0, rules.random) }, now);
  }
  if (!inquiry) return null;
  const notFoundAt = isUnpaid && isOver ? (record.notFoundAt ?? answeredAt) : null;
  const reason = record.state === 'unknown' ? record.reason : inquiry.outcome === 'declined' ? 'declined' : null;
  const change = { ...declineOf(inquiry, record, rules), reason, notFoundAt };
  // Callbacks may cause any number of inquiries: an answer that says nothing new leaves no trace.
  if (isSame(record, change)) return null;
  const inquiries = record.inquiries + 1;
  const dueAt = nextPageInquiry({ ...record, notFoundAt }, now, rules.random);
  return advance(record, record.state, { ...change, inquiries, dueAt }, now);
}

function isSame(
  record: PaymentRecord,
  { reason = null, notFoundAt = null, code = record.code }: PaymentChange,
): boolean {
  return reason === record.reason && code === record.code && notFoundAt?.getTime() === record.notFoundAt?.getTime();
}

/** What is shown of a decline, which does not end the page: another card may follow. */
function declineOf(inquiry: InquiryOutcome, record: PaymentRecord, rules: SettlementRules): PaymentChange {
  if (inquiry.outcome !== 'declined' || !inquiry.charge.result) return {};
  // The ids are of this try alone.
  const { code = record.code, message = record.message } = resultChanges(inquiry.charge.result, record, rules);
  return { code, message };
}

/** The record after `abandon`: one answer that nothing was paid ends an open page. */
export function applyAbandoned(
  record: PaymentRecord,
  inquiry: InquiryOutcome | null,
  rules: SettlementRules,
  times: AnswerTimes,
): PaymentRecord | null {
  if (record.state === 'pending' && saysUnpaid(inquiry)) return endPage(record, 'abandoned', rules, times.now);
  return applyPageInquiry(record, inquiry, rules, times);
}

/**
 * When to ask about a page next: after a minute at first, then after as long as it has been there, up to four hours; at
 * its end; and ten minutes after the first answer that it was not paid in its time.
 */
export function nextPageInquiry(
  { createdAt, expiresAt, notFoundAt }: Pick<PaymentRecord, 'createdAt' | 'expiresAt' | 'notFoundAt'>,
  now: Date,
  random: Randomness,
): Date {
  const at = now.getTime();
  if (notFoundAt !== null)
    return new Date(Math.max(notFoundAt.getTime() + UNPAID_CONFIRMED_AFTER_MS, at + MIN_WAIT_MS));
  const wait = Math.min(Math.max(at - createdAt.getTime(), MIN_WAIT_MS), MAX_WAIT_MS);
  const next = new Date(at + variedBy(random, wait));
  return expiresAt !== null && expiresAt > now && expiresAt < next ? expiresAt : next;
}

function endPage(
  record: PaymentRecord,
  reason: PaymentReason | null,
  { canInquire }: SettlementRules,
  now: Date,
): PaymentRecord {
  return advance(record, 'expired', { reason, ...(canInquire && toBeAskedLate(now)) }, now);
}

function isSilentTooLong({ state, expiresAt, notFoundAt }: PaymentRecord, now: Date): boolean {
  if (state !== 'pending' || expiresAt === null) return false;
  return now.getTime() - (notFoundAt ?? expiresAt).getTime() >= MAX_SILENCE_MS;
}
