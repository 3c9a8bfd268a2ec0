import { randomBytes } from 'node:crypto';

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
