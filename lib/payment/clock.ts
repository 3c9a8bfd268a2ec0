/** The longest wait that a timer of Node can be set to, in milliseconds: some 24 days. */
export const MAX_TIMER_MS = 2_147_483_647;

/** Where time comes from, so that tests can move it. */
export abstract class PaymentClock {
  abstract now(): Date;
  /** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
  abstract sleep(ms: number, signal?: AbortSignal): Promise<void>;

  /**
   * Calls `act` after `ms`, unless what this returns is called before. Most limits are never reached: a clock that can
   * set and clear a timer for less than a promise and a signal overrides this.
   */
  timer(ms: number, act: () => void): () => void {
    const cancelled = new AbortController();
    void this.sleep(ms, cancelled.signal).then(() => {
      if (!cancelled.signal.aborted) act();
    });
    return () => cancelled.abort();
  }

  /** Milliseconds from some fixed moment on, which no setting of the clock changes. */
  monotonic(): number {
    return performance.now();
  }
}

/** The system's clock. Its timers do not keep a process alive; a payment that runs does. */
export class SystemClock extends PaymentClock {
  now(): Date {
    return new Date();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      timer.unref();
      signal?.addEventListener('abort', done, { once: true });
    });
  }

  override timer(ms: number, act: () => void): () => void {
    const timer = setTimeout(act, ms);
    timer.unref();
    return () => clearTimeout(timer);
  }
}
