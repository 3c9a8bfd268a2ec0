import { Randomness } from '../../lib/runtime/randomness.js';

/** Seeded random numbers: the same seed gives the same numbers (mulberry32). */
export class Chance {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** At least 0, below 1. */
  fraction(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  happens(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.fraction() * (most - least + 1));
  }

  oneOf<T>(choices: readonly T[]): T {
    if (choices.length === 0) throw new Error('There is nothing to choose from.');
    return choices[this.between(0, choices.length - 1)]!;
  }

  /** A seed for random numbers that are drawn apart from these. */
  seed(): number {
    return Math.floor(this.fraction() * 2 ** 32);
  }
}

/** The random numbers and bytes that the module itself uses, from a seed. */
export class SeededRandomness extends Randomness {
  private readonly chance: Chance;

  constructor(seed: number) {
    super();
    this.chance = new Chance(seed);
  }

  bytes(count: number): Buffer {
    const bytes = Buffer.alloc(count + 3);
    for (let from = 0; from < count; from += 4) bytes.writeUInt32BE(this.chance.seed(), from);
    return bytes.subarray(0, count);
  }

  fraction(): number {
    return this.chance.fraction();
  }
}
