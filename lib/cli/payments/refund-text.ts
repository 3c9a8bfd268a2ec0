import { amountWithCurrency, currencyLetters } from '../../payment/amount.js';
import type { Refund, RefundTotals } from '../../payment/refund.js';
import type { StoreCounts } from '../../store/payment-store.js';

/** `Refund R of payment P`. */
export function refundName({ kind, refundId, conversationId }: Refund): string {
  return `${kind === 'void' ? 'Void' : 'Refund'} ${refundId} of payment ${conversationId}`;
}

/** A refund in one line. */
export function refundLine(refund: Refund): string {
  const { refundId, conversationId, kind, state, reason, code, amount, currencyCode, updatedAt, note, by } = refund;
  return [
    `  ${refundId}`,
    kind.padEnd(6),
    state.padEnd(9),
    amountWithCurrency(amount, currencyCode).padStart(16),
    `since ${updatedAt.toISOString()}`,
    reason,
    code,
    `payment ${conversationId}`,
    note && `“${note}”`,
    by && `by ${by}`,
  ]
    .filter(Boolean)
    .join('  ');
}

/** Every field of a refund that is not null, one a line. */
export function refundFacts(refund: Refund): string {
  return Object.entries(refund)
    .filter(([name, value]) => value !== null && name !== 'stored')
    .map(([name, value]) => `  ${name.padEnd(26)}${factText(name, value, refund)}`)
    .join('\n');
}

function factText(name: string, value: unknown, { amount, currencyCode }: Refund): string {
  if (name === 'amount') return amountWithCurrency(amount, currencyCode);
  return value instanceof Date ? value.toISOString() : String(value);
}

/** A refund as JSON, with the letters of its currency (null if no currency has its number). */
export function refundJson(refund: Refund): Refund & { readonly currency: string | null } {
  return { ...refund, currency: currencyLetters(refund.currencyCode) };
}

/** The totals of a payment in one line. */
export function totalsLine({ taken, refunded, open, refundable }: RefundTotals, currencyCode: number): string {
  const of = (amount: string): string => amountWithCurrency(amount, currencyCode);
  return `Taken ${of(taken)}, refunded ${of(refunded)}, open ${of(open)}, left to refund ${of(refundable)}`;
}

/** How many refunds and voids are not settled, in one line. */
export function refundCountsLine({ refunding, unknown, review }: StoreCounts['refunds']): string {
  const counts = `${refunding.count} under way, ${unknown.count} unknown, ${review.count} in review`;
  return `Refunds and voids: ${counts} ("payments refunds" lists those that need a person)`;
}
