import { CallerWaits } from '../../lib/events/caller-waits.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { isOver } from '../operations/test-shop.js';

describe('CallerWaits', () => {
  let clock: TestClock;
  let waits: CallerWaits;

  beforeEach(() => {
    clock = new TestClock();
    waits = new CallerWaits(clock);
  });

  it('releases a caller when every handler of its event has run', async () => {
    const waiting = waits.until('event', ['one', 'other']);
    waits.handled('event', 'one');
    waits.handled('event', 'one');
    waits.handled('another event', 'other');
    expect(await isOver(waiting)).toBe(false);
    waits.handled('event', 'other');
    expect(await isOver(waiting)).toBe(true);
    expect(clock.sleeping).toBe(0);
  });

  it('releases a caller after two seconds, and accepts a handler that ends later', async () => {
    const waiting = waits.until('event', ['slow']);
    await clock.advance(1_999);
    expect(await isOver(waiting)).toBe(false);
    await clock.advance(1);
    expect(await isOver(waiting)).toBe(true);
    waits.handled('event', 'slow');
  });

  it('forgets a caller that was released', async () => {
    const waiting = waits.until('event', ['slow']);
    expect(waits.waitBriefly('event', 'slow')).toBe(true);
    await clock.advance(2_000);
    await waiting;
    expect(waits.waitBriefly('event', 'slow')).toBe(false);
    const again = waits.until('event', ['slow', 'other']);
    await clock.advance(2_000);
    await again;
    expect(waits.waitBriefly('event', 'slow')).toBe(false);
  });

  it('waits only briefly for a handler that another process runs', async () => {
    const waiting = waits.until('event', ['here', 'there']);
    waits.waitBriefly('event', 'there');
    waits.waitBriefly('event', 'not awaited');
    await clock.advance(200);
    expect(await isOver(waiting)).toBe(false);
    waits.handled('event', 'here');
    expect(await isOver(waiting)).toBe(true);
  });

  it('keeps the callers of different events apart', async () => {
    const [one, other] = [waits.until('one', ['handler']), waits.until('other', ['handler'])];
    waits.handled('one', 'handler');
    expect([await isOver(one), await isOver(other)]).toEqual([true, false]);
    await clock.advance(2_000);
    await other;
  });
});
