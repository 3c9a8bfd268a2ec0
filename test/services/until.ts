import { setTimeout as delay } from 'node:timers/promises';

/** Waits until something is so; fails when it is not so in time. */
export async function until(isSo: () => boolean | Promise<boolean>, ms = 10_000): Promise<void> {
  const end = performance.now() + ms;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`It is not so after ${ms} ms: ${isSo.toString()}`);
    await delay(5);
  }
}
