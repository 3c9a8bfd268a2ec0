import type { PaymentClock } from './clock.js';

/** Calls for the same key that are made at the same time are one call, whose result all of them get. */
export class SharedCalls<T> {
  /** #private, so that `inspect` of what shares calls does not show their results. */
  readonly #running = new Map<string, Promise<T>>();

  /** How many are running. */
  get size(): number {
    return this.#running.size;
  }

  running(key: string): Promise<T> | null {
    return this.#running.get(key) ?? null;
  }

  run(key: string, call: () => Promise<T>): Promise<T> {
    const running = this.running(key);
    if (running) return running;
    const run = call().finally(() => this.#running.delete(key));
    this.#running.set(key, run);
    return run;
  }
}

/** Keeps calls for the same key apart, by the monotonic clock. Those that may be made again are forgotten. */
export class SpacedCalls {
  private readonly begun = new Map<string, number>();

  constructor(
    private readonly clock: PaymentClock,
    private readonly gapMs: number,
  ) {}

  /** In how many milliseconds the next call may be made; 0 for at once. */
  waitMs(key: string): number {
    const begun = this.begun.get(key) ?? -Infinity;
    return Math.max(begun + this.gapMs - this.clock.monotonic(), 0);
  }

  /** A call begins now. */
  begin(key: string): void {
    this.begun.delete(key);
    this.begun.set(key, this.clock.monotonic());
    // In their order, so that the first one that must still be kept ends the search.
    for (const [earlier] of this.begun) {
      if (this.waitMs(earlier) > 0) break;
      this.begun.delete(earlier);
    }
  }
}
