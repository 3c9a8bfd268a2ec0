import { PaymentStoreError } from '../errors/payment-errors.js';
import type { PaymentSettings } from '../options/payment-settings.js';
import type { PaymentRecord } from '../payment/payment.js';
import type { Earlier, PaymentReader } from './payment-reader.js';
import type { PaymentWriter } from './settling/payment-writer.js';

/**
 * Stores a new payment, unless another one stands in its way: then nothing is stored.
 *
 * @returns null when the payment is stored and its request may be sent
 * @throws PaymentDuplicateError, PaymentStateError as {@link PaymentReader.findEarlier}
 * @throws PaymentStoreError
 */
export async function openPayment(
  record: PaymentRecord,
  writer: PaymentWriter,
  reader: PaymentReader,
  settings: Pick<PaymentSettings, 'gateways'>,
): Promise<Earlier | null> {
  // What stood in the way may be gone before it is looked up. Then opening is tried once more.
  for (let tries = 0; tries < 2; tries += 1) {
    // A 3D payment takes no lock yet. This look saves its buyer a useless visit to the bank; the claim decides.
    const isHeld = record.referenceLock === null && (await reader.findHolder(record)) !== null;
    const taken = isHeld ? 'referenceLock' : await writer.open(record);
    const earlier = taken && (await reader.findEarlier(record, taken, settings));
    if (taken === null || earlier) return earlier;
  }
  throw new PaymentStoreError('opening the payment');
}
