import { TestClock } from '../../lib/testing/index.js';

test('stands still until it is moved, and wakes sleepers in order, also one that sleeps again', async () => {
  const clock = new TestClock(new Date(1_000));
  const woken: string[] = [];
  const sleep = async (name: string, ms: number) => {
    await clock.sleep(ms);
    woken.push(`${name} at ${clock.now().getTime()}, after ${clock.monotonic()}`);
  };
  void sleep('b', 20);
  void sleep('a', 10).then(() => sleep('again', 15));
  await clock.advance(9);
  expect([clock.now().getTime(), woken, clock.sleeping]).toEqual([1_009, [], 2]);
  await clock.advance(100);
  expect(woken).toEqual(['a at 1010, after 10', 'b at 1020, after 20', 'again at 1025, after 25']);
  expect([clock.now().getTime(), clock.monotonic(), clock.sleeping]).toEqual([1_109, 109, 0]);
});

test('an aborted sleep ends at once, and so does one of no time', async () => {
  const clock = new TestClock();
  const abort = new AbortController();
  const slept = clock.sleep(1_000, abort.signal);
  abort.abort();
  await Promise.all([slept, clock.sleep(1_000, abort.signal), clock.sleep(0)]);
  expect(clock.sleeping).toBe(0);
});

test('set to another time, it wakes nobody, and no time has passed', async () => {
  const clock = new TestClock(new Date(1_000));
  let isAwake = false;
  void clock.sleep(20).then(() => (isAwake = true));
  await clock.advance(5);
  for (const to of [1_000_000, 3]) {
    clock.set(new Date(to));
    await clock.advance(0);
    expect([clock.now().getTime(), clock.monotonic(), isAwake]).toEqual([to, 5, false]);
  }
  await clock.advance(14);
  expect([clock.now().getTime(), isAwake]).toEqual([17, false]);
  await clock.advance(1);
  expect([clock.now().getTime(), clock.monotonic(), isAwake]).toEqual([18, 20, true]);
});
