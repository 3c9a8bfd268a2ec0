import type { PaymentRecord } from 'nestjs-card-payment';
import { aPaymentRecord } from 'nestjs-card-payment/testing';

/** A 3D payment whose buyer is at the bank. */
export function awaitingRecord(number: number, createdAt = new Date()): PaymentRecord {
  return aPaymentRecord({
    conversationId: `BEN${String(number).padStart(17, '0')}`,
    reference: `order-${number}`,
    state: 'awaiting',
    createdAt,
    version: 1,
    tokenHash: String(number).padStart(64, '0'),
  });
}

/** The same payment after its claim, which is the right to call Auth3d. */
export function claimedRecord(awaiting: PaymentRecord, at = awaiting.updatedAt): PaymentRecord {
  const { reference, version } = awaiting;
  return { ...awaiting, state: 'authorizing', version: version + 1, referenceLock: reference, updatedAt: at };
}
