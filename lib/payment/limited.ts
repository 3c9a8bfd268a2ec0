import type { PaymentClock } from './clock.js';

/** Thrown by {@link limited} when the time is up. */
export class TimeUpError extends Error {}

/** Whether it is that; what a host threw may refuse to be looked at. */
export function isTimeUp(error: unknown): boolean {
  try {
    return error instanceof TimeUpError;
  } catch {
    return false;
  }
}

/**
 * Waits for someone else's promise, but not for ever. What it does after its time is nobody's concern: it runs on, and
 * its rejection is swallowed.
 *
 * @throws TimeUpError after `ms`; otherwise what the promise rejects with
 */
export function limited<T>(clock: PaymentClock, ms: number, work: () => T | Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(ms, () => reject(new TimeUpError()));
    void Promise.resolve().then(work).then(resolve, reject).then(cancel);
  });
}
