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
