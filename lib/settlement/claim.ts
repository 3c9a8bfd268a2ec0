import type { RequestClaim } from '../gateway/transport/attempt.js';
import type { PaymentRecord } from '../payment/payment.js';
import type { StoreClock } from './store-clock.js';

/** Time that a request needs besides its deadline: to confirm the claim with the store, to build and to sign. */
const CLAIM_MARGIN_MS = 30_000;

/** How long to wait before Auth3d is tried again, once it is proven that nothing was sent. */
export const AUTH3D_RETRY_MS = 2_000;
const MAX_AUTH3D_RETRYING_MS = 10_000;

/** When a claim on a payment runs out: after the deadline of the only request that is made under it. */
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

/** Whether a request that is sent now, and takes as long as it may, ends before its claim runs out. */
export function fitsClaim(claimEndsAt: Date | null, now: Date, timeoutMs: number): boolean {
  return claimEndsAt !== null && now.getTime() + timeoutMs <= claimEndsAt.getTime();
}

/**
 * The claim under which a DoPayment or Auth3d is sent. A store that hung or a host that was suspended may have used up
 * its time: meanwhile another instance or an operator may have settled the payment, and the buyer may have paid in
 * another way.
 */
export class Claim implements RequestClaim {
  constructor(
    private readonly record: Pick<PaymentRecord, 'dueAt'>,
    readonly timeoutMs: number,
    private readonly clock: StoreClock,
  ) {}

  confirmTime(): Promise<boolean> {
    return this.clock.refresh();
  }

  /** The store's clock follows whichever of the host's two clocks has moved further since the store was last asked. */
  mayStart(timeoutMs: number): boolean {
    return this.clock.isKnown && fitsClaim(this.record.dueAt, this.clock.now(), timeoutMs);
  }
}
