import { SystemClock } from 'nestjs-card-payment';

/** The system's clock, which a test sets ahead instead of waiting for hours. */
export class ClockSetAhead extends SystemClock {
  aheadMs = 0;

  override now(): Date {
    return new Date(Date.now() + this.aheadMs);
  }
}

/**
 * The same, and where a call pauses before it goes on, nobody waits: the clock is set ahead by the pause, and the limits
 * that would have run out meanwhile run out. Background work, whose pauses can be cut short, waits as always.
 */
export class SkippingClock extends ClockSetAhead {
  private readonly timers = new Set<{ readonly at: number; readonly act: () => void }>();

  override monotonic(): number {
    return super.monotonic() + this.aheadMs;
  }

  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal) return super.sleep(ms, signal);
    this.aheadMs += ms;
    for (const timer of this.timers) if (timer.at <= this.monotonic()) timer.act();
    await new Promise(setImmediate);
  }

  override timer(ms: number, act: () => void): () => void {
    const timer = { at: this.monotonic() + ms, act: () => (cancel(), act()) };
    const stop = super.timer(ms, timer.act);
    const cancel = (): void => {
      stop();
      this.timers.delete(timer);
    };
    this.timers.add(timer);
    return cancel;
  }
}
