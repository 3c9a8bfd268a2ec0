import type { Payment } from '../../payment/payment.js';

/** A payment in one line. */
export function paymentLine(payment: Payment): string {
  const { conversationId, reference, state, reason, code, amount, currencyCode, updatedAt } = payment;
  return [
    `  ${conversationId}`,
    state.padEnd(8),
    `${amount} (${currencyCode})`.padStart(18),
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
    .map(([name, value]) => `  ${name.padEnd(26)}${value instanceof Date ? value.toISOString() : String(value)}`)
    .join('\n');
}

/** `1 payment`, `2 payments`. */
export function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
