import type { PaymentClock } from './clock.js';

const WINDOW_MS = 60_000;
/** Of each kind, in one window, by default. */
const MAX_LINES = 3;

interface Window {
  readonly endsAt: number;
  lines: number;
  leftOut: number;
}

/** Logs a few lines a minute of each kind, and how many it left out: what repeats must not be able to fill the log. */
export class LimitedLog {
  private readonly windows = new Map<string, Window>();

  /** @param maxLines of each kind, in one minute */
  constructor(
    private readonly clock: PaymentClock,
    private readonly maxLines = MAX_LINES,
  ) {}

  /** @param log writes the line, with what is to stand at its end */
  write(kind: string, log: (end: string) => void): void {
    const window = this.windowOf(kind);
    if (window.lines < this.maxLines) {
      window.lines += 1;
      log('');
      return;
    }
    window.leftOut += 1;
    if (window.leftOut === 1) void this.reportAtEnd(window, log);
  }

  private windowOf(kind: string): Window {
    const now = this.clock.monotonic();
    const open = this.windows.get(kind);
    if (open && now < open.endsAt) return open;
    const window = { endsAt: now + WINDOW_MS, lines: 0, leftOut: 0 };
    this.windows.set(kind, window);
    return window;
  }

  private async reportAtEnd(window: Window, log: (end: string) => void): Promise<void> {
    await this.clock.sleep(window.endsAt - this.clock.monotonic());
    log(` ${window.leftOut} more in the same minute were not logged.`);
  }
}

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
