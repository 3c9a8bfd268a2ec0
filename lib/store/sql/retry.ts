import { setTimeout } from 'node:timers/promises';

const MAX_BUSY_WAIT_MS = 10_000;
const MAX_PAUSE_MS = 15;

/** Tries again while there is a conflict with another process, for ten seconds at most. */
export async function retryWhileBusy<T>(isBusy: (error: unknown) => boolean, attempt: () => Promise<T>): Promise<T> {
  const end = performance.now() + MAX_BUSY_WAIT_MS;
  for (let pause = 1; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() > end) throw error;
      await setTimeout(Math.random() * pause);
    }
  }
}
