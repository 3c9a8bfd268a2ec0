import { setTimeout as delay } from 'node:timers/promises';

/** Waits until a condition is true, and throws when it is not true in time: far more than a busy machine needs. */
export async function until(isTrue: () => boolean | Promise<boolean>, ms = 30_000): Promise<void> {
  const end = performance.now() + ms;
  while (!(await isTrue())) {
    if (performance.now() > end) throw new Error(`This is not true after ${ms} ms: ${isTrue.toString()}`);
    await delay(5);
  }
}
