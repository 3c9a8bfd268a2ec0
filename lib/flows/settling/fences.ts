import type { PaymentRecord } from '../../payment/payment.js';
import { advance, withdrawClaim } from '../../payment/transitions.js';
import { applyNotSent, type Settlement } from './settlement.js';

/*
 * An unconfirmed write may have been applied, or may be applied later. Nothing was sent because of it. The fence makes
 * sure that nothing will be: it makes the unconfirmed write fail, or reverts it.
 */

/**
 * The record that is stored in place of an opening that was not confirmed: it uses up the conversationId and holds
 * nothing.
 */
export function unsentRecord(opening: PaymentRecord, now: Date): PaymentRecord {
  const change = { reason: 'not_sent', tokenHash: null } as const;
  return { ...advance(opening, 'failed', change, now), version: opening.version };
}

/** Ends an opening that was applied after all, if this attempt wrote it. */
export function fenceOpening(opening: PaymentRecord): Settlement {
  return (current, now) => (current.attemptId === opening.attemptId ? applyNotSent(current, now) : null);
}

/**
 * Raises the version, so that the unconfirmed claim fails, or reverts the claim if it was applied after all and this
 * attempt wrote it. The payment then waits for the buyer to reload.
 */
export function fenceClaim(before: PaymentRecord, attemptId: string): Settlement {
  return (current, now) => {
    // Each change raises the version, so the unconfirmed write can only apply to this one.
    const isBefore = current.version === before.version;
    const isOurs = current.attemptId === attemptId;
    if (isBefore) return advance(current, 'awaiting', { dueAt: before.expiresAt }, now);
    if (isOurs && current.state === 'authorizing') return withdrawClaim(current, now);
    // The claim ran out before the store answered again: the payment is `interrupted` by now.
    return isOurs ? applyNotSent(current, now) : null;
  };
}
