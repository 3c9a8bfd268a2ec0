import type { LedgerEvent } from '../payment/payment-event.js';
import { FREE_STATES, factsOf } from '../payment/states.js';
import { holdsOrder } from '../payment/transitions.js';
import type { PaymentLedger } from '../store/payment-store.js';

/**
 * Whether an event is not told, since it would have the shop give an order back that a payment holds: the one that
 * ended without money, as it is by now, or another one. Looked up as the event is delivered, which may be long after it
 * happened. Of payments that end at once, the last one thus finds the others ended, and is told. A lock without an
 * owner, of a payment that was purged or of two that moved money, holds the order for good.
 */
export async function isSilent(event: LedgerEvent, ledger: PaymentLedger): Promise<boolean> {
  const { account, conversationId, reference, state, allowRepeat } = event.payment;
  const { settled, money } = factsOf(state);
  if ('refund' in event || !settled || money !== 'no' || allowRepeat) return false;
  if (reference === null) {
    const latest = await ledger.find(account, conversationId);
    return latest !== null && holdsOrder(latest);
  }
  return ledger.isHeld(account, reference, FREE_STATES);
}
