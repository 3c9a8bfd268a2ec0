/** Thrown when the time is up. */
export class TimeUp extends Error {}

/** Waits for work no longer than that. What it hangs on is let go of when the signal aborts, or when the process ends. */
export async function withinTime<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new TimeUp()), ms);
  });
  const working = work(stop.signal);
  working.catch(() => undefined);
  try {
    return await Promise.race([working, timeUp]);
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}
