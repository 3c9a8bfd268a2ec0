/** The longest time in milliseconds that Node's timers can wait: about 24 days. */
export const MAX_TIMER_MS = 2_147_483_647;

/** Where the module gets the time from. Tests can replace it. */
export abstract class PaymentClock {
  /** The current time. */
  abstract now(): Date;
  /** Resolves after `ms` milliseconds, or as soon as the signal aborts. Never rejects. */
  abstract sleep(ms: number, signal?: AbortSignal): Promise<void>;

  /**
   * Calls `act` after `ms` milliseconds, unless the returned function is called before. Most timers are cancelled:
   * override this if your clock can set and clear a timer for less than a promise and a signal cost.
   */
  timer(ms: number, act: () => void): () => void {
    const cancelled = new AbortController();
    void this.sleep(ms, cancelled.signal).then(() => {
      if (!cancelled.signal.aborted) act();
    });
    return () => cancelled.abort();
  }

  /** Milliseconds since some fixed moment. Setting the system's clock does not change it. */
  monotonic(): number {
    return performance.now();
  }
}

/** The system's clock. Its timers do not keep the process alive; running payments do. */
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
