import { SystemClock } from '../../payment/clock.js';
import { limited } from '../../payment/limited.js';

/**
 * Waits for work no longer than that. What it hangs on is let go of when the signal aborts, or when the process ends.
 *
 * @throws TimeUpError
 */
export async function withinTime<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  try {
    return await limited(new SystemClock(), ms, () => work(stop.signal));
  } finally {
    stop.abort();
  }
}
