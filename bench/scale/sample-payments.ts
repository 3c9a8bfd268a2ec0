import { createHash } from 'node:crypto';

/** Keys of the payment of a number, as random as real ones are; the fill makes the same in SQL. */
export function sampleKeys(number: number): { conversationId: string; reference: string; tokenHash: string } {
  return {
    conversationId: createHash('md5').update(String(number)).digest('hex').slice(0, 20).toUpperCase(),
    reference: `order-${number}`,
    tokenHash: createHash('sha256').update(String(number)).digest('hex'),
  };
}

/** The idempotency key that a direct payment has. */
export function sampleIdempotencyKey(number: number): string {
  return `checkout-${number}`;
}

/** Settled payments are spread evenly over this time before now. */
export const SPREAD_MS = 365 * 86_400_000;

export type SampleKind = 'threeD' | 'direct' | 'declined' | 'expired';

/** Of each hundred settled payments: so many of a kind, one kind after the other. */
export const SHARES: readonly (readonly [SampleKind, number])[] = [
  ['threeD', 60],
  ['direct', 25],
  ['declined', 12],
  ['expired', 3],
];

/** Numbers from 1 on of settled payments of a kind, spread evenly over all, the same at each call. */
export function sampleNumbers(kind: SampleKind, stored: number, count: number): number[] {
  let first = 0;
  for (const [name, share] of SHARES) {
    if (name === kind) break;
    first += share;
  }
  const step = Math.max(1, Math.floor(stored / 100 / count));
  return Array.from({ length: count }, (_, i) => ((i * step * 100) % stored) + (first === 0 ? 100 : first));
}
