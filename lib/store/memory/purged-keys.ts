import { createHash } from 'node:crypto';

/** Beyond this many, the oldest is forgotten: memory must end somewhere. */
const MAX_KEYS = 100_000;

type PurgedKey = 'idempotencyKey' | 'conversationId';

/** Idempotency keys and conversationIds of payments that are gone, as hashes, the oldest first. */
export class PurgedKeys {
  private readonly purgedAt = new Map<string, Date>();

  has(name: PurgedKey, value: string): boolean {
    return this.purgedAt.has(hashOf(name, value));
  }

  add(name: PurgedKey, value: string, now: Date): void {
    this.purgedAt.set(hashOf(name, value), now);
    const [oldest] = this.purgedAt.keys();
    if (this.purgedAt.size > MAX_KEYS && oldest !== undefined) this.purgedAt.delete(oldest);
  }

  forgetBefore(before: Date): void {
    for (const [hash, purgedAt] of this.purgedAt) if (purgedAt < before) this.purgedAt.delete(hash);
  }
}

function hashOf(name: PurgedKey, value: string): string {
  return `${name}:${createHash('sha256').update(value, 'utf8').digest('base64url')}`;
}
