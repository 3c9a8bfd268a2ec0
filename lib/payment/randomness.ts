import { randomFillSync } from 'node:crypto';

/** Where chance comes from, so that a test can repeat it. */
export abstract class Randomness {
  abstract bytes(count: number): Buffer;
  /** At least 0, below 1. */
  abstract fraction(): number;
}

/** Node's generators: cryptographic bytes, and `Math.random` where chance only spreads load. */
export class SystemRandomness extends Randomness {
  bytes(count: number): Buffer {
    return randomBytes(count);
  }

  fraction(): number {
    return Math.random();
  }
}

const POOL_SIZE = 4_096;
const pool = Buffer.allocUnsafeSlow(POOL_SIZE);
let used = POOL_SIZE;

/**
 * Cryptographic bytes, drawn from the system in lots: asking for a few at a time takes longer than all else that an id
 * needs. What was given out is wiped here, and has memory of its own, for whoever asked to wipe.
 */
export function randomBytes(count: number): Buffer {
  if (count > POOL_SIZE) throw new Error(`at most ${POOL_SIZE} random bytes at once`);
  if (used + count > POOL_SIZE) {
    randomFillSync(pool);
    used = 0;
  }
  const lot = pool.subarray(used, used + count);
  const bytes = Buffer.allocUnsafeSlow(count);
  lot.copy(bytes);
  lot.fill(0);
  used += count;
  return bytes;
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** 20 random characters of Crockford's Base32 (100 bits), the form that the vendor's official plugin uses. */
export function newConversationId(): string {
  return Array.from(randomBytes(20), (byte) => CROCKFORD.charAt(byte & 31)).join('');
}
