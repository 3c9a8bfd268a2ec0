import type { PaymentRecord } from '../../payment/payment.js';
import { advance, withdrawClaim } from '../../payment/transitions.js';
import { applyNotSent, type Settlement } from './settlement.js';

/*
 * A write that the store did not confirm may have been done, or may still land once the store thaws. Nothing was sent on the strength
 * of it, and a fence sees to it that nothing ever will be: it makes the lost write fail, or takes back what it did.
 */

/**
 * What stands in the store's books for an opening that was not confirmed: its conversationId is used up, and it holds
 * nothing.
 */
export function unsentRecord(opening: PaymentRecord, now: Date): PaymentRecord {
  const change = { reason: 'not_sent', tokenHash: null } as const;
  return { ...advance(opening, 'failed', change, now), version: opening.version };
}

/** Of an opening: ends it if it was written after all, by this attempt. */
export function fenceOpening(opening: PaymentRecord): Settlement {
  return (current, now) => (current.attemptId === opening.attemptId ? applyNotSent(current, now) : null);
}

/**
 * Of a claim: raises the version, so that the lost write comes too late, or gives the payment back if it was claimed
 * after all, and by this attempt. The payment then waits for the buyer's reload.
 */
export function fenceClaim(before: PaymentRecord, attemptId: string): Settlement {
  return (current, now) => {
    // Each change raises the version: the lost write can land on this one alone.
    const isBefore = current.version === before.version;
    const isOurs = current.attemptId === attemptId;
    if (isBefore) return advance(current, 'awaiting', { dueAt: before.expiresAt }, now);
    if (isOurs && current.state === 'authorizing') return withdrawClaim(current, now);
    // The claim ran out before the store was back: by now the payment counts as interrupted.
    return isOurs ? applyNotSent(current, now) : null;
  };
}
