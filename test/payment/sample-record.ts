import { type PaymentRecord, type PaymentState, SETTLED_STATES } from '../../lib/payment/payment.js';
import { REFERENCE_HOLDING_STATES } from '../../lib/payment/states.js';

export const CREATED = new Date('2026-03-01T09:00:00Z');

/** A record of 149.90 lira as it would stand in this state. */
export function recordIn(state: PaymentState, over: Partial<PaymentRecord> = {}): PaymentRecord {
  return {
    conversationId: 'ABC00000000000000001',
    account: 'default',
    reference: 'order-1',
    kind: state === 'charging' ? 'direct' : '3d',
    state,
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
    createdAt: CREATED,
    updatedAt: CREATED,
    finalizedAt: SETTLED_STATES.has(state) ? CREATED : null,
    version: 3,
    tokenHash: null,
    idempotencyKey: 'key-1',
    referenceLock: REFERENCE_HOLDING_STATES.has(state) ? 'order-1' : null,
    allowRepeat: false,
    expiresAt: null,
    dueAt: null,
    inquiries: 0,
    notFoundAt: null,
    note: null,
    ...over,
  };
}
