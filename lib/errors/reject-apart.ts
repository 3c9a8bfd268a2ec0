import type { PaymentError } from './payment.error.js';

/**
 * Rejects with an error that was made elsewhere, on a stack of its own. Where an error is thrown, debuggers and error
 * trackers stop and record the variables of every function on the stack: none of these may hold a card.
 */
export async function rejectApart(error: PaymentError): Promise<never> {
  await Promise.resolve();
  throw error;
}
