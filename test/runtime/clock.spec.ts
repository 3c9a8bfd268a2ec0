import { SystemClock } from '../../lib/runtime/clock.js';

describe('the clock of the system', () => {
  const clock = new SystemClock();

  it('shows the time of the system', () => {
    const before = Date.now();
    const now = clock.now().getTime();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
  });

  it('sleeps as long as it is asked to', async () => {
    const start = performance.now();
    await clock.sleep(30);
    expect(performance.now() - start).toBeGreaterThanOrEqual(28);
  });

  it('wakes when it is aborted, and does not fall asleep when it already is', async () => {
    const abort = new AbortController();
    const asleep = clock.sleep(60_000, abort.signal);
    abort.abort();
    await asleep;
    await clock.sleep(60_000, abort.signal);
  });
});
