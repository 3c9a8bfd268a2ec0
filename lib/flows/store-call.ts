import { PaymentStoreError } from '../errors/payment-errors.js';

/**
 * Calls the store, on a stack of its own: a driver may throw at once, and the caller may hold the card. What it throws is
 * never shown: it may hold a statement's values or an address.
 *
 * @param doing what was attempted, for the error's text
 * @throws PaymentStoreError when the call fails
 */
export async function callStore<T>(doing: string, call: () => Promise<T>): Promise<T> {
  await Promise.resolve();
  try {
    return await call();
  } catch {
    throw new PaymentStoreError(doing);
  }
}
