import { type PaymentClock, SystemClock } from './clock.js';

/** Thrown by {@link withTimeout}. Its code is that of a network timeout. */
export class TimeoutError extends Error {
  readonly code = 'ETIMEDOUT';

  constructor(message = 'there was no answer in time') {
    super(message);
  }
}

const SYSTEM_CLOCK = new SystemClock();

/**
 * Waits at most `ms` milliseconds for the work. It does not stop the work; if that fails later, its error is ignored.
 *
 * @throws TimeoutError after `ms`; before that, what the work rejects with
 */
export function withTimeout<T>(ms: number, work: () => T | Promise<T>, clock: PaymentClock = SYSTEM_CLOCK): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(ms, () => reject(new TimeoutError()));
    void Promise.resolve().then(work).then(resolve, reject).then(cancel);
  });
}

/** Whether this is a {@link TimeoutError}. The check may throw for what a host threw, such as a revoked proxy. */
export function isTimeout(error: unknown): boolean {
  try {
    return error instanceof TimeoutError;
  } catch {
    return false;
  }
}
