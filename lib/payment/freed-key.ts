import type { PaymentReason } from './payment-reason.js';
import { isBeforeMoney, type PaymentState } from './payment-state.js';

/** Why nothing was sent that can move money, whatever the state. */
const NOTHING_SENT: ReadonlySet<PaymentReason> = new Set(['not_sent', 'reference_taken', 'vetoed']);

/**
 * Whether a payment that ends so gives its idempotencyKey back: no money can move, so that "try again" under the same key
 * is a new payment. One that DoPayment or Auth3d was called for keeps its key.
 */
export function freesKey(from: PaymentState, to: PaymentState, reason: PaymentReason | null): boolean {
  if (to !== 'failed' && to !== 'expired') return false;
  return isBeforeMoney(from) || (reason !== null && NOTHING_SENT.has(reason));
}
