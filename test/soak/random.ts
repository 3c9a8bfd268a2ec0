/** Numbers out of a seed, the same each time (mulberry32). */
export class SeededRandom {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** From 0 on, below 1. */
  fraction(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  isHit(chance: number): boolean {
    return this.fraction() < chance;
  }

  /** Both ends included. */
  between(min: number, max: number): number {
    return min + Math.floor(this.fraction() * (max - min + 1));
  }

  oneOf<T>(choices: readonly T[]): T {
    const chosen = choices[Math.floor(this.fraction() * choices.length)];
    if (chosen === undefined) throw new Error('There is nothing to choose from');
    return chosen;
  }

  /** A seed for somebody else. */
  seed(): number {
    return Math.floor(this.fraction() * 2 ** 32);
  }
}
