import type { PaymentRecord } from 'nestjs-card-payment';

/** A 3D payment whose buyer is at the bank. */
export function awaitingRecord(number: number, at = new Date()): PaymentRecord {
  return {
    conversationId: `BEN${String(number).padStart(17, '0')}`,
    account: 'default',
    reference: `order-${number}`,
    kind: '3d',
    state: 'awaiting',
    reason: null,
    amount: '149.90',
    currencyCode: 949,
    installmentCount: 1,
    chargedAmount: null,
    code: null,
    message: null,
    orderId: null,
    paymentId: null,
    bankUniqueReferenceNumber: null,
    authCode: null,
    transactionDate: null,
    transactionAt: null,
    maskedCardNumber: '450803******4509',
    commissionRate: null,
    commissionAmount: null,
    createdAt: at,
    updatedAt: at,
    finalizedAt: null,
    version: 1,
    tokenHash: String(number).padStart(64, '0'),
    idempotencyKey: null,
    referenceLock: null,
    allowRepeat: false,
    expiresAt: new Date(at.getTime() + 3_600_000),
    dueAt: new Date(at.getTime() + 3_600_000),
    inquiries: 0,
    notFoundAt: null,
    note: null,
  };
}

/** The same with the right to call Auth3d taken. */
export function claimedRecord(awaiting: PaymentRecord, at = awaiting.updatedAt): PaymentRecord {
  const { reference, version } = awaiting;
  return { ...awaiting, state: 'authorizing', version: version + 1, referenceLock: reference, updatedAt: at };
}
