import type { Randomness } from '../../payment/randomness.js';

/**
 * When the background work next looks at a payment. Clocks of instances may differ: the worst that does is one more
 * inquiry.
 */

const MIN_INQUIRY_INTERVAL_MS = 15_000;
const MAX_INQUIRY_INTERVAL_MS = 4 * 3_600_000;
/** What a request needs beside its deadline: the store's confirmation of the claim, then building and signing. */
const CLAIM_MARGIN_MS = 30_000;

/** How long after an Auth3d that provably never left the next try comes. */
export const AUTH3D_RETRY_MS = 2_000;
const MAX_AUTH3D_RETRYING_MS = 10_000;

/** Two answers that the payment is not known count only when they are this far apart. */
export const NOT_FOUND_CONFIRMED_AFTER_MS = 600_000;

/** When a claim on a payment runs out: later than the deadline of the one request that is made under it. */
export function claimEnd(now: Date, timeoutMs: number): Date {
  return new Date(now.getTime() + timeoutMs + CLAIM_MARGIN_MS);
}

/**
 * How much of its deadline an Auth3d may have used and still be tried again: ten seconds, and no more than half, since
 * the last try needs time for its answer.
 */
export function auth3dRetryingMs(timeoutMs: number): number {
  return Math.min(MAX_AUTH3D_RETRYING_MS, timeoutMs / 2);
}

/** Whether a request that leaves now, and takes as long as it may, is over before its claim runs out. */
export function fitsClaim(claimEndsAt: Date | null, now: Date, timeoutMs: number): boolean {
  return claimEndsAt !== null && now.getTime() + timeoutMs <= claimEndsAt.getTime();
}

/**
 * When to ask the gateway again: from 15 seconds, doubling up to four hours, a fifth more or less so that no storm
 * forms.
 */
export function nextInquiry(now: Date, inquiries: number, random: Randomness): Date {
  const wait = Math.min(MIN_INQUIRY_INTERVAL_MS * 2 ** Math.min(inquiries, 20), MAX_INQUIRY_INTERVAL_MS);
  return new Date(now.getTime() + Math.round(wait * (0.8 + 0.4 * random.fraction())));
}
