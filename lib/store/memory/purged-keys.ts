import { createHash } from 'node:crypto';

/** Beyond this many, the oldest is forgotten: memory must end somewhere. */
const MAX_KEYS = 100_000;

/** Idempotency keys of payments that are gone, as hashes, the oldest first. */
export class PurgedKeys {
  private readonly purgedAt = new Map<string, Date>();

  has(key: string): boolean {
    return this.purgedAt.has(hashOf(key));
  }

  add(key: string, now: Date): void {
    this.purgedAt.set(hashOf(key), now);
    const [oldest] = this.purgedAt.keys();
    if (this.purgedAt.size > MAX_KEYS && oldest !== undefined) this.purgedAt.delete(oldest);
  }

  forgetBefore(before: Date): void {
    for (const [hash, purgedAt] of this.purgedAt) if (purgedAt < before) this.purgedAt.delete(hash);
  }
}

function hashOf(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('base64url');
}
