import type { PaymentClock } from './clock.js';

const WINDOW_MS = 60_000;
/** The default for each kind of line in one window. */
const MAX_LINES = 3;

interface Window {
  readonly endsAt: number;
  lines: number;
  leftOut: number;
}

/** Logs a few lines of each kind a minute, and how many more there were, so that repetitions cannot fill the log. */
export class LimitedLog {
  private readonly windows = new Map<string, Window>();

  /** @param maxLines for each kind, in a minute */
  constructor(
    private readonly clock: PaymentClock,
    private readonly maxLines = MAX_LINES,
  ) {}

  /** @param log writes the line, followed by `end` */
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
