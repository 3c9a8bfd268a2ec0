import { randomBytes } from 'node:crypto';

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
    return pooledBytes(count);
  }

  fraction(): number {
    return Math.random();
  }
}

let pool = Buffer.alloc(0);
let used = 0;

/** Cryptographic bytes, given out once. Asking the system for a few at a time takes ten times as long. */
export function pooledBytes(count: number): Buffer {
  if (used + count > pool.length) {
    pool = randomBytes(Math.max(count, POOL_SIZE));
    used = 0;
  }
  used += count;
  return pool.subarray(used - count, used);
}

/** 20 random characters in Crockford's Base32 (100 bits), as in the vendor's official plugin. */
export function newConversationId(): string {
  return Array.from(pooledBytes(20), (byte) => CROCKFORD.charAt(byte & 31)).join('');
}
