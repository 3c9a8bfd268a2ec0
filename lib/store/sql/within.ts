/** How long a caller of the store waits, whatever hangs. What it waited for may still be done. */
export const MAX_CALL_MS = 25_000;

/** Thrown by {@link within} when the time is up. Its code is the one of a network that does not answer. */
export class TimeoutError extends Error {
  readonly code = 'ETIMEDOUT';
}

/**
 * Waits for a promise, but no longer than that. What comes of it later is nobody's concern: its rejection is swallowed.
 */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new TimeoutError('the database does not answer')), ms);
  });
  try {
    return await Promise.race([promise, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}
