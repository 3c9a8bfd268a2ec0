import { createHash } from 'node:crypto';
import type { PaymentRecord } from '../../payment/payment.js';

/** What is stored of an idempotency key beside its payment, and what is left of it once that is purged. */
export function keyHashOf(idempotencyKey: string): string {
  return hashOf(idempotencyKey);
}

/** What is stored of a conversationId, so that it stays taken once its payment is purged. Never equal to a key's hash. */
export function idHashOf(conversationId: string): string {
  return `id:${hashOf(conversationId)}`;
}

/** The hash that is stored of a conversationId that the host chose; null of others. */
export function hostIdHashOf({ conversationId, hostIdNonce }: PaymentRecord): string | null {
  return typeof hostIdNonce === 'string' ? idHashOf(conversationId) : null;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('base64url');
}
