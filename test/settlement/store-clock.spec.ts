import { PaymentStoreError } from 'nestjs-card-payment';
import { StoreClock } from '../../lib/settlement/store-clock.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { logLines } from '../operations/log-lines.js';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;

describe('StoreClock', () => {
  const records: unknown[] = [];
  const log = logLines(records);
  /** The clock of the store. */
  let storeTime: TestClock;
  let host: TestClock;
  let store: MemoryPaymentStore;
  let clock: StoreClock;
  /** How often the store was asked for the time. */
  let reads: number;
  /** What the store does when it is asked. */
  let answer: () => Promise<Date>;

  const right = () => Promise.resolve(storeTime.now());
  const down = () => Promise.reject<Date>(new Error('down'));
  const hang = () => new Promise<Date>(() => undefined);
  /** Says a time that is so far ahead, after so long. */
  const slowly = (aheadMs: number, afterMs: number) => async () => {
    const said = new Date(storeTime.now().getTime() + aheadMs);
    await host.sleep(afterMs);
    return said;
  };

  beforeEach(() => {
    storeTime = new TestClock();
    host = new TestClock();
    store = new MemoryPaymentStore({ clock: storeTime });
    [reads, answer] = [0, right];
    store.now = () => ((reads += 1), answer());
    clock = new StoreClock(host, store);
  });

  afterEach(() => clock.stop());

  function shift(ms: number): void {
    host.set(new Date(storeTime.now().getTime() + ms));
  }

  async function start(aheadMs = 0): Promise<void> {
    shift(aheadMs);
    await clock.start();
    reads = 0;
  }

  /** Advances both clocks, second by second. */
  async function pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= SECOND_MS) {
      await storeTime.advance(Math.min(left, SECOND_MS));
      await host.advance(Math.min(left, SECOND_MS));
    }
  }

  const offBy = () => clock.now().getTime() - storeTime.now().getTime();

  it.each([3 * HOUR_MS, -3 * HOUR_MS])(
    "returns the store's time on a host whose clock is %d ms off, and warns once",
    async (off) => {
      await start(off);
      expect([offBy(), clock.offsetMs]).toEqual([0, -off]);
      await pass(600 * SECOND_MS);
      expect(offBy()).toBe(0);
      expect(log).toEqual([
        `warn This host's clock is 10800 seconds ${off > 0 ? 'ahead of' : 'behind'} the payment store's. The store's ` +
          "time counts for payments; the gateway still gets this host's time (x-Timestamp) and may refuse it. Set the " +
          'clock (NTP).',
      ]);
      expect(records).toMatchObject([{ clockOffsetMs: -off }]);
    },
  );

  it.each([
    [499, 0, 0],
    [500, -500, 0],
    [5_000, -5_000, 0],
    [5_001, -5_001, 1],
  ])('corrects a host whose clock is %d ms ahead by %d ms, and warns %d times', async (ahead, offset, warnings) => {
    await start(ahead);
    expect([clock.offsetMs, log.length]).toEqual([offset, warnings]);
  });

  it('uses the clock of the host for timers and durations', async () => {
    await start(HOUR_MS);
    const woken: string[] = [];
    void clock.sleep(500).then(() => woken.push('sleeper'));
    clock.timer(900, () => woken.push('timer'));
    await pass(SECOND_MS);
    expect(woken).toEqual(['sleeper', 'timer']);
    expect(clock.monotonic()).toBe(host.monotonic());
  });

  it('reads the time once a minute, and no more after it is stopped', async () => {
    await start();
    await pass(601 * SECOND_MS);
    expect(reads).toBe(10);
    clock.stop();
    await pass(HOUR_MS);
    expect(reads).toBe(10);
  });

  it('moves backwards, if needed, to follow the store when the clock of the host is too fast', async () => {
    await start();
    for (let seconds = 0; seconds < 600; seconds += 1) {
      await storeTime.advance(SECOND_MS);
      await host.advance(1.05 * SECOND_MS);
    }
    expect(Math.abs(offBy())).toBeLessThanOrEqual(4 * SECOND_MS);
  });

  it('takes the time of the store to be that of the middle between request and answer', async () => {
    answer = async () => {
      await host.sleep(0.9 * SECOND_MS);
      const answered = new Date(host.now());
      await host.sleep(0.9 * SECOND_MS);
      return answered;
    };
    const started = clock.start();
    await pass(2 * SECOND_MS);
    await started;
    expect(clock.offsetMs).toBe(0);
  });

  it.each([
    [0, 0],
    [1_000, 0],
    [1_001, 1],
    [3 * HOUR_MS, 1],
  ])('before a payment on a host whose clock was changed by %d ms, reads the time %d times', async (ms, times) => {
    await start();
    shift(ms);
    await clock.check();
    expect(reads).toBe(times);
    if (times > 0) expect(Math.abs(offBy())).toBeLessThanOrEqual(SECOND_MS + 1 - times);
  });

  it.each([
    [1_000, true],
    [1_001, false],
  ])('when the clock is changed by %d ms while the store answers, accepts the answer: %s', async (ms, isAccepted) => {
    answer = () => (shift(ms), right());
    await clock.start();
    expect(clock.isKnown).toBe(isAccepted);
  });

  it('discards an answer that arrived while the host was suspended', async () => {
    await start();
    answer = () => {
      storeTime.set(new Date(storeTime.now().getTime() + 600 * SECOND_MS));
      shift(0);
      return right();
    };
    await pass(61 * SECOND_MS);
    expect([reads, offBy(), clock.offsetMs]).toEqual([1, 0, 0]);
  });

  it('corrects a clock that was changed within seconds, and warns again when it becomes wrong again', async () => {
    await start(HOUR_MS);
    for (const [off, warnings] of [
      [0, 1],
      [HOUR_MS, 2],
    ] as const) {
      shift(off);
      await pass(2 * SECOND_MS);
      expect([offBy(), clock.offsetMs, log.length]).toEqual([0, off === 0 ? 0 : -off, warnings]);
    }
  });

  it('keeps running if the clock of the host is set back, even before it reads the time again', async () => {
    await start();
    await pass(30 * SECOND_MS);
    shift(-3 * HOUR_MS);
    expect([offBy(), reads]).toEqual([0, 0]);
  });

  it('keeps its correction while the store does not answer, or is slow', async () => {
    await start(HOUR_MS);
    answer = down;
    await pass(60 * SECOND_MS);
    expect(offBy()).toBe(0);
    answer = async () => (await host.sleep(5 * SECOND_MS), new Date(0));
    await pass(70 * SECOND_MS);
    expect(offBy()).toBe(0);
  });

  describe('on a host whose clock is hours off, if the store did not tell the time at start-up,', () => {
    beforeEach(async () => {
      answer = down;
      await start(3 * HOUR_MS);
    });

    it.each<[string, () => Promise<Date>, number, number]>([
      ['before a payment', () => right(), 0, 0],
      ['from a slow answer, since it has no other', () => slowly(0, 5 * SECOND_MS)(), 5, 3 * SECOND_MS],
    ])('reads the time %s', async (_what, answers, seconds, mostOff) => {
      answer = answers;
      const checked = clock.check();
      await pass(seconds * SECOND_MS);
      await checked;
      expect(Math.abs(offBy())).toBeLessThanOrEqual(mostOff);
    });

    it('reads the time by itself within seconds', async () => {
      answer = right;
      await pass(2 * SECOND_MS);
      expect(offBy()).toBe(0);
    });

    it('refuses payments until it knows the time of the store', async () => {
      await expect(clock.check()).rejects.toThrow(PaymentStoreError);
      await expect(clock.check()).rejects.toThrow('while asking for the time');
    });
  });

  describe('before a request that moves money', () => {
    beforeEach(() => start());

    it('reads the time once every five seconds, however many payments there are', async () => {
      const refreshed = () => Promise.all([clock.refresh(), clock.refresh(), clock.refresh()]);
      for (const [seconds, read] of [
        [5, 0],
        [1, 1],
        [5, 1],
      ] as const) {
        await pass(seconds * SECOND_MS);
        expect(await refreshed()).toEqual([true, true, true]);
        expect(reads).toBe(read);
      }
    });

    it('notices that both clocks of the host stood still', async () => {
      await pass(6 * SECOND_MS);
      await storeTime.advance(HOUR_MS);
      expect(await clock.refresh()).toBe(true);
      expect(offBy()).toBe(0);
    });

    it('returns false if the store does not answer, and tries again the next time', async () => {
      await pass(6 * SECOND_MS);
      answer = down;
      expect(await clock.refresh()).toBe(false);
      answer = right;
      expect(await clock.refresh()).toBe(true);
    });

    it('moves forward, but not back, by a slow answer', async () => {
      await pass(6 * SECOND_MS);
      for (const ahead of [0, HOUR_MS]) {
        answer = slowly(ahead, 5 * SECOND_MS);
        const refreshed = clock.refresh();
        await pass(5 * SECOND_MS);
        expect(await refreshed).toBe(true);
        expect(offBy()).toBeGreaterThanOrEqual(ahead - 5 * SECOND_MS);
        await pass(6 * SECOND_MS);
      }
    });
  });

  it.each<[string, () => Promise<Date>]>([
    ['does not answer in seven seconds', hang],
    [
      'throws',
      () => {
        throw new Error('no promise');
      },
    ],
  ])('refuses a payment while the store %s, and tries again for the next one', async (_what, fails) => {
    await start();
    shift(HOUR_MS);
    answer = fails;
    const refused = Promise.allSettled([clock.check(), clock.check()]);
    await pass(8 * SECOND_MS);
    for (const result of await refused) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'PAYMENT_STORE' } });
    }
    answer = right;
    await clock.check();
    expect(offBy()).toBe(0);
  });
});
