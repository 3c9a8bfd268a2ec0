import { PaymentStoreError } from '../errors/payment-errors.js';

/**
 * Calls the store on a new stack, since a driver may throw at once while the caller holds the card. What it throws is
 * never shown: it may hold values of a statement, or an address.
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
