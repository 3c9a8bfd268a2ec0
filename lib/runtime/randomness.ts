import { randomBytes } from 'node:crypto';

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

/** 20 random characters in Crockford's Base32 (100 bits), as in the vendor's official plugin. */
export function newConversationId(): string {
  return Array.from(randomBytes(20), (byte) => CROCKFORD.charAt(byte & 31)).join('');
}
