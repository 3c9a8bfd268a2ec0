import type { LedgerEvent } from '../payment/ledger-event.js';
import { rowOf } from '../payment/payment-state.js';
import { holdsOrder } from '../payment/transitions.js';
import type { PaymentLedger } from '../store/payment-store.js';

/**
 * Whether an event is not told, since it would have the shop give an order back that a payment holds: the one that
 * ended without money, as it is by now, or another one. Looked up as the event is delivered, which may be long after it
 * happened. Of payments that end at once, the last one thus finds the others ended, and is told.
 */
export async function isSilent(event: LedgerEvent, ledger: PaymentLedger): Promise<boolean> {
  const { account, conversationId, reference, state, allowRepeat } = event.payment;
  const { settled, money } = rowOf(state);
  if ('refund' in event || !settled || money !== 'no' || allowRepeat) return false;
  if (reference === null) {
    const latest = await ledger.find(account, conversationId);
    return latest !== null && holdsOrder(latest);
  }
  const holder = await ledger.findByReferenceLock(account, reference);
  if (holder !== null && holder !== 'purged') return true;
  const payments = await ledger.findByReference(account, reference);
  // A lock without an owner is that of a payment which was purged, unless one that is still there has pinned it.
  return payments.some(holdsOrder) || (holder === 'purged' && !payments.some(({ pinsReference }) => pinsReference));
}
