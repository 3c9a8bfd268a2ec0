import type { BinOutcome } from '../gateway/readings/card-answer.js';
import type { PaymentClock } from '../payment/clock.js';

/** A few hundred BINs are most of a country's cards. */
const MAX_ANSWERS = 1_000;

interface Kept {
  /** By the monotonic clock. */
  readonly until: number;
  readonly outcome: BinOutcome;
}

/**
 * What the gateway has said about cards a short time ago, in this process. Beyond a thousand answers, the oldest is
 * forgotten.
 */
export class BinAnswers {
  /** #private, so that `inspect` of the service does not show the answers. */
  readonly #answers = new Map<string, Kept>();

  constructor(private readonly clock: PaymentClock) {}

  find(key: string): BinOutcome | null {
    const kept = this.#answers.get(key);
    if (!kept) return null;
    if (this.clock.monotonic() < kept.until) return kept.outcome;
    this.#answers.delete(key);
    return null;
  }

  keep(key: string, outcome: BinOutcome, keptMs: number): void {
    // So that it becomes the newest.
    this.#answers.delete(key);
    this.#answers.set(key, { until: this.clock.monotonic() + keptMs, outcome });
    if (this.#answers.size <= MAX_ANSWERS) return;
    const [oldest] = this.#answers.keys();
    if (oldest !== undefined) this.#answers.delete(oldest);
  }
}
