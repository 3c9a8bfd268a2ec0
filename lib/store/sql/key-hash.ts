import { createHash } from 'node:crypto';

/** What is stored of an idempotency key beside its payment, and what is left of it once that is purged. */
export function keyHashOf(idempotencyKey: string): string {
  return createHash('sha256').update(idempotencyKey, 'utf8').digest('base64url');
}
