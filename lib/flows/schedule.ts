/**
 * When the background work next looks at a payment. Clocks of instances may differ: the worst that does is one more
 * inquiry.
 */

const MIN_INQUIRY_INTERVAL_MS = 15_000;
const MAX_INQUIRY_INTERVAL_MS = 4 * 3_600_000;
const LEASE_MARGIN_MS = 30_000;

/** How many times an Auth3d that provably never left is tried, and how long apart. */
export const AUTH3D_TRIES = 3;
export const AUTH3D_RETRY_MS = 2_000;

/** Two answers that the payment is not known count only when they are this far apart. */
export const NOT_FOUND_CONFIRMED_AFTER_MS = 600_000;

/** When a claim on a payment runs out: later than any deadline of the requests made under it. */
export function claimEnd(now: Date, timeoutMs: number): Date {
  return new Date(now.getTime() + AUTH3D_TRIES * (timeoutMs + AUTH3D_RETRY_MS) + LEASE_MARGIN_MS);
}

/**
 * Whether a request that leaves now is over before its claim runs out. A store that hung, or a process that was
 * suspended, may have used the claim up: then others may have settled the payment already.
 */
export function fitsClaim(claimEndsAt: Date | null, now: Date, timeoutMs: number): boolean {
  return claimEndsAt !== null && now.getTime() + timeoutMs <= claimEndsAt.getTime();
}

/**
 * When to ask the gateway again: from 15 seconds, doubling up to four hours, a fifth more or less so that no storm
 * forms.
 */
export function nextInquiry(now: Date, inquiries: number, random: () => number = Math.random): Date {
  const wait = Math.min(MIN_INQUIRY_INTERVAL_MS * 2 ** Math.min(inquiries, 20), MAX_INQUIRY_INTERVAL_MS);
  return new Date(now.getTime() + Math.round(wait * (0.8 + 0.4 * random())));
}
