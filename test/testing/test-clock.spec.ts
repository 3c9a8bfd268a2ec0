import { TestClock } from '../../lib/testing/index.js';

test('stands still until it is moved', async () => {
  const clock = new TestClock(new Date(1_000));
  const woken: string[] = [];
  void clock.sleep(20).then(() => woken.push(`b at ${clock.now().getTime()}`));
  void clock.sleep(10).then(() => woken.push(`a at ${clock.now().getTime()}`));
  await clock.advance(9);
  expect([clock.now().getTime(), woken, clock.sleeping]).toEqual([1_009, [], 2]);
  await clock.advance(100);
  expect([clock.now().getTime(), woken, clock.sleeping]).toEqual([1_109, ['a at 1010', 'b at 1020'], 0]);
});

test('wakes again who sleeps again within the stretch', async () => {
  const clock = new TestClock();
  let passes = 0;
  const loop = async () => {
    for (;;) {
      await clock.sleep(1_000);
      passes += 1;
    }
  };
  void loop();
  await clock.advance(5_500);
  expect(passes).toBe(5);
});

test('an aborted sleep ends at once', async () => {
  const clock = new TestClock();
  const abort = new AbortController();
  const slept = clock.sleep(1_000, abort.signal);
  abort.abort();
  await slept;
  await clock.sleep(1_000, abort.signal);
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

test('the monotonic time is how much time has passed, at a sleeper too', async () => {
  const clock = new TestClock(new Date(5_000));
  expect(clock.monotonic()).toBe(0);
  const woken: number[] = [];
  void clock.sleep(30).then(() => woken.push(clock.monotonic()));
  await clock.advance(100);
  expect([woken, clock.monotonic()]).toEqual([[30], 100]);
});

test('a sleeper that sets the clock as it wakes does not shorten the stretch', async () => {
  const clock = new TestClock(new Date(0));
  void clock.sleep(10).then(() => clock.set(new Date(5_000)));
  await clock.advance(100);
  expect([clock.now().getTime(), clock.monotonic()]).toEqual([5_090, 100]);
});

test('a sleep of no time ends at once', async () => {
  const clock = new TestClock();
  await clock.sleep(0);
  await clock.sleep(-5);
  expect(clock.sleeping).toBe(0);
});

test('what now() gave is not changed by what its reader does to it', () => {
  const clock = new TestClock(new Date(1_000));
  clock.now().setTime(0);
  expect(clock.now().getTime()).toBe(1_000);
});
