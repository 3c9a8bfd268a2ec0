import type { RefundDto } from '../dto/refund.dto.js';
import type { PaymentSettings } from '../options/payment-settings.js';
import { keptNote } from '../payment/kept-text.js';
import { type PaymentRecord, type RefundKind, toPayment, UNANSWERED } from '../payment/payment.js';
import type { Randomness } from '../payment/randomness.js';
import { saleText } from '../payment/refund.js';
import { referenceLockIn } from '../payment/transitions.js';
import { newAttemptId, newHostIdNonce } from './callback-token.js';
import { newConversationIdOf } from './new-conversation-id.js';
import { MAX_NAME_LENGTH, MAX_NOTE_LENGTH } from './operator-flow.js';
import { claimEnd } from './settling/claim.js';

/** The first record of a refund, which holds the lock of its payment. */
export function newRefundRecord(
  kind: RefundKind,
  sale: PaymentRecord,
  input: Omit<RefundDto, 'amount'> & { readonly amount: string },
  now: Date,
  { account, dialect, timeoutMs }: PaymentSettings,
  random: Randomness,
): PaymentRecord {
  const { amount, refundId, idempotencyKey = null, note, by } = input;
  const state = 'refunding';
  const owner = { kind, parentId: sale.conversationId, reference: sale.reference, allowRepeat: false };
  return {
    conversationId: refundId ?? newConversationIdOf(dialect),
    account,
    ...owner,
    state,
    reason: null,
    amount,
    currencyCode: sale.currencyCode,
    installmentCount: 1,
    ...UNANSWERED,
    maskedCardNumber: sale.maskedCardNumber,
    createdAt: now,
    updatedAt: now,
    finalizedAt: null,
    version: 1,
    tokenHash: null,
    idempotencyKey,
    referenceLock: referenceLockIn(state, owner),
    hostIdNonce: newHostIdNonce(random, { conversationId: refundId }),
    gateway: sale.gateway ?? null,
    expiresAt: null,
    dueAt: claimEnd(now, timeoutMs),
    attemptId: newAttemptId(random),
    inquiries: 0,
    notFoundAt: null,
    note: note === undefined ? null : keptNote(note, MAX_NOTE_LENGTH),
    by: by === undefined ? null : keptNote(by, MAX_NAME_LENGTH),
    sale: saleText(toPayment(sale)),
  };
}
