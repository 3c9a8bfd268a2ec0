import { SystemClock } from '../../payment/clock.js';
import { withTimeout } from '../../payment/with-timeout.js';

/**
 * Waits for work no longer than that. What it hangs on is let go of when the signal aborts, or when the process ends.
 *
 * @throws TimeoutError
 */
export async function withinTime<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  try {
    return await withTimeout(ms, () => work(stop.signal), new SystemClock());
  } finally {
    stop.abort();
  }
}
