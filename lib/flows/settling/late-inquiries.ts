import type { PaymentRecord } from '../../payment/payment.js';
import { advance } from '../../payment/transitions.js';

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
