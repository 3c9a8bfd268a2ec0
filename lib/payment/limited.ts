import type { PaymentClock } from './clock.js';

/** Thrown by {@link limited} when the time is up. */
export class TimeUpError extends Error {}

/**
 * Waits for someone else's promise, but not for ever. What it does after its time is nobody's concern: it runs on, and
 * its rejection is swallowed.
 *
 * @throws TimeUpError after `ms`; otherwise what the promise rejects with
 */
export async function limited<T>(clock: PaymentClock, ms: number, work: () => T | Promise<T>): Promise<T> {
  const stop = new AbortController();
  const running = Promise.resolve().then(work);
  running.catch(() => undefined);
  const timeUp = clock.sleep(ms, stop.signal).then(() => {
    throw new TimeUpError();
  });
  timeUp.catch(() => undefined);
  try {
    return await Promise.race([running, timeUp]);
  } finally {
    stop.abort();
  }
}
