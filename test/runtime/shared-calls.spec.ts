import { SpacedCalls } from '../../lib/runtime/shared-calls.js';
import { TestClock } from '../../lib/testing/test-clock.js';

describe('spaced calls', () => {
  it('may be made again when their time is over, each key by its last call', async () => {
    const clock = new TestClock();
    const calls = new SpacedCalls(clock, 2_000);
    const waits = () => ['a', 'b', 'c'].map((key) => calls.waitMs(key));
    calls.begin('a');
    await clock.advance(500);
    calls.begin('b');
    await clock.advance(500);
    calls.begin('a');
    expect(waits()).toEqual([2_000, 1_500, 0]);
    await clock.advance(1_500);
    expect(waits()).toEqual([500, 0, 0]);
    calls.begin('c');
    expect(waits()).toEqual([500, 0, 2_000]);
  });
});
