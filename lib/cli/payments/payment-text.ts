import { amountWithCurrency, currencyLetters } from '../../payment/currency.js';
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

/** Everything that is known of a payment, a line for each. */
export function paymentFacts(payment: Payment): string {
  return Object.entries(payment)
    .filter(([name, value]) => value !== null && name !== 'stored')
    .map(([name, value]) => `  ${name.padEnd(26)}${factText(name, value, payment)}`)
    .join('\n');
}

/** What was charged stands as the gateway gave it: it may have been in another currency, or in one that it did not name. */
function factText(name: string, value: unknown, { amount, currencyCode }: Payment): string {
  if (name === 'amount') return amountWithCurrency(amount, currencyCode);
  return value instanceof Date ? value.toISOString() : String(value);
}

/** A payment for a program, with the letters of its currency (null where the number is no currency's). */
export function paymentJson(payment: Payment): Payment & { readonly currency: string | null } {
  return { ...payment, currency: currencyLetters(payment.currencyCode) };
}

/** `1 payment`, `2 payments`. */
export function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
