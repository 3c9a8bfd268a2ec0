import type { PaymentClock } from './clock.js';
import { LimitedLog } from './limited-log.js';

/**
 * Work that is done again and again, and fails at times: each kind of failure is logged a few times a minute, and
 * {@link count} tells how often work has failed since it last succeeded.
 */
export class FailureLog<Kind extends string> {
  private readonly log: LimitedLog;
  private readonly inRow = new Map<string, number>();

  /** @param write writes the line of a kind, with what is to stand at its end */
  constructor(
    clock: PaymentClock,
    private readonly write: (kind: Kind, end: string) => void,
  ) {
    this.log = new LimitedLog(clock);
  }

  /** Failures since the last success, over all that fails now; 0 while all is well. */
  get count(): number {
    let sum = 0;
    for (const failures of this.inRow.values()) sum += failures;
    return sum;
  }

  /** @param what which of several works of this kind */
  failed(kind: Kind, what: string = kind): void {
    this.inRow.set(what, (this.inRow.get(what) ?? 0) + 1);
    this.log.write(kind, (end) => this.write(kind, end));
  }

  /** It succeeded, or is over. */
  succeeded(what: string): void {
    this.inRow.delete(what);
  }
}
