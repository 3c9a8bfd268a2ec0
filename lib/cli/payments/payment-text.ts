import { amountWithCurrency, currencyLetters } from '../../payment/amount.js';
import type { Payment } from '../../payment/payment.js';

/** A payment in one line. */
export function paymentLine(payment: Payment): string {
  const { conversationId, reference, state, reason, code, amount, currencyCode, updatedAt } = payment;
  return [
    `  ${conversationId}`,
    state.padEnd(8),
    amountWithCurrency(amount, currencyCode).padStart(16),
    `since ${updatedAt.toISOString()}`,
    reason,
    code,
    reference && `reference ${reference}`,
  ]
    .filter(Boolean)
    .join('  ');
}

/** Every field of a payment that is not null, one a line. */
export function paymentFacts(payment: Payment): string {
  return Object.entries(payment)
    .filter(([name, value]) => value !== null && name !== 'stored')
    .map(([name, value]) => `  ${name.padEnd(26)}${factText(name, value, payment)}`)
    .join('\n');
}

/**
 * `chargedAmount` is shown without a currency: the gateway may have charged in another one, or may not have named it.
 */
function factText(name: string, value: unknown, { amount, currencyCode }: Payment): string {
  if (name === 'amount') return amountWithCurrency(amount, currencyCode);
  return value instanceof Date ? value.toISOString() : String(value);
}

/** A payment as JSON, with the letters of its currency (null if no currency has its number). */
export function paymentJson(payment: Payment): Payment & { readonly currency: string | null } {
  return { ...payment, currency: currencyLetters(payment.currencyCode) };
}

/** `1 payment`, `2 payments`. */
export function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
