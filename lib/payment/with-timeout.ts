import { type PaymentClock, SystemClock } from './clock.js';

/** Thrown by {@link withTimeout}. Its code is that of a network that does not answer. */
export class TimeoutError extends Error {
  readonly code = 'ETIMEDOUT';

  constructor(message = 'there was no answer in time') {
    super(message);
  }
}

const SYSTEM_CLOCK = new SystemClock();

/**
 * Waits at most `ms` for a promise. The work itself is not stopped: it goes on, and if it fails later, nobody is told.
 *
 * @throws TimeoutError after `ms`; otherwise what the work rejects with
 */
export function withTimeout<T>(ms: number, work: () => T | Promise<T>, clock: PaymentClock = SYSTEM_CLOCK): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(ms, () => reject(new TimeoutError()));
    void Promise.resolve().then(work).then(resolve, reject).then(cancel);
  });
}

/** Whether that is what was thrown; what a host threw may refuse to be looked at. */
export function isTimeout(error: unknown): boolean {
  try {
    return error instanceof TimeoutError;
  } catch {
    return false;
  }
}
