import { randomFillSync } from 'node:crypto';

const POOL_SIZE = 4_096;
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Where the module gets random values from. Tests can replace it. */
export abstract class Randomness {
  /** Cryptographic bytes. */
  abstract bytes(count: number): Buffer;
  /** At least 0 and below 1. */
  abstract fraction(): number;
}

/** Node's generators: a cryptographic one for bytes, and `Math.random` for fractions, which only spread load. */
export class SystemRandomness extends Randomness {
  bytes(count: number): Buffer {
    return randomBytes(count);
  }

  fraction(): number {
    return Math.random();
  }
}

const pool = Buffer.allocUnsafeSlow(POOL_SIZE);
let used = POOL_SIZE;

/**
 * Cryptographic bytes, taken from a pool: asking the system for a few at a time takes longer than everything else that
 * an id needs. The bytes are wiped from the pool, and the result has memory of its own, so that the caller can wipe it.
 */
export function randomBytes(count: number): Buffer {
  if (count > POOL_SIZE) throw new Error(`at most ${POOL_SIZE} random bytes at once`);
  if (used + count > POOL_SIZE) {
    randomFillSync(pool);
    used = 0;
  }
  const taken = pool.subarray(used, used + count);
  const bytes = Buffer.allocUnsafeSlow(count);
  taken.copy(bytes);
  taken.fill(0);
  used += count;
  return bytes;
}

/** 20 random characters in Crockford's Base32 (100 bits), as in the vendor's official plugin. */
export function newConversationId(): string {
  return Array.from(randomBytes(20), (byte) => CROCKFORD.charAt(byte & 31)).join('');
}
