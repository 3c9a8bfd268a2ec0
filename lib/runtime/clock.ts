// Imported, since a host's tests may replace the global one by a fake that never calls back.
import { setImmediate } from 'node:timers';

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

/** Thrown by {@link withTimeout}. Its code is that of a network timeout. */
export class TimeoutError extends Error {
  readonly code = 'ETIMEDOUT';

  constructor(message = 'there was no answer in time') {
    super(message);
  }
}

/** Keeps the process running until the time is up, so that whoever waits gets an answer. */
class WaitingClock extends SystemClock {
  override timer(ms: number, act: () => void): () => void {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  }
}

const WAITING_CLOCK = new WaitingClock();

/**
 * Waits at most `ms` milliseconds for the work. It does not stop the work; if that fails later, its error is ignored.
 *
 * @param late makes the error for work that takes too long: given by callers whose work is a host's code, which may
 *   itself throw a TimeoutError
 * @throws TimeoutError after `ms`; before that, what the work rejects with
 */
export function withTimeout<T>(
  ms: number,
  work: () => T | Promise<T>,
  clock: PaymentClock = WAITING_CLOCK,
  late: () => Error = () => new TimeoutError(),
): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(ms, () => reject(late()));
    void Promise.resolve().then(work).then(resolve, reject).then(cancel);
  });
}

/** Payments resumed per turn of the event loop; together they take some milliseconds. */
const PER_TURN = 16;

/**
 * Spreads payments that become ready at once (a burst of calls, a slow store that answers all of them) over several
 * turns of the event loop, so that none of it blocks the loop for long. First come, first served.
 */
class LoopTurn {
  private left = PER_TURN;
  private readonly waiting: (() => void)[] = [];
  private isCounting = false;

  /** @returns a promise to wait for; null when this turn still has room */
  take(): Promise<void> | null {
    this.count();
    if (this.left > 0) {
      this.left -= 1;
      return null;
    }
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private count(): void {
    if (this.isCounting) return;
    this.isCounting = true;
    setImmediate(() => {
      this.isCounting = false;
      const next = this.waiting.splice(0, PER_TURN);
      this.left = PER_TURN - next.length;
      if (next.length > 0) this.count();
      for (const proceed of next) proceed();
    });
  }
}

/** One for the process: all accounts share its event loop. */
export const loopTurn = new LoopTurn();
