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

  beforeEach(() => {
    storeTime = new TestClock();
    host = new TestClock();
    store = new MemoryPaymentStore({ clock: storeTime });
    clock = new StoreClock(host, store);
  });

  afterEach(() => clock.stop());

  function shift(ms: number): void {
    host.set(new Date(storeTime.now().getTime() + ms));
  }

  /** Advances both clocks, second by second. */
  async function pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= SECOND_MS) {
      await storeTime.advance(Math.min(left, SECOND_MS));
      await host.advance(Math.min(left, SECOND_MS));
    }
  }

  it.each([3 * HOUR_MS, -3 * HOUR_MS])(
    "returns the store's time on a host whose clock is %d ms off, and warns once",
    async (off) => {
      shift(off);
      await clock.start();
      expect(clock.now()).toEqual(storeTime.now());
      expect(clock.offsetMs).toBe(-off);
      await pass(10 * 60 * SECOND_MS);
      expect(clock.now()).toEqual(storeTime.now());
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
    shift(ahead);
    await clock.start();
    expect([clock.offsetMs, log.length]).toEqual([offset, warnings]);
  });

  it('uses the clock of the host for timers and durations', async () => {
    shift(HOUR_MS);
    await clock.start();
    const woken: string[] = [];
    void clock.sleep(500).then(() => woken.push('sleeper'));
    clock.timer(900, () => woken.push('timer'));
    await pass(SECOND_MS);
    expect(woken).toEqual(['sleeper', 'timer']);
    expect(clock.monotonic()).toBe(host.monotonic());
  });

  it('reads the time of the store once a minute', async () => {
    await clock.start();
    let calls = 0;
    store.now = () => ((calls += 1), Promise.resolve(storeTime.now()));
    await pass(10 * 60 * SECOND_MS + SECOND_MS);
    expect(calls).toBe(10);
  });

  it('moves backwards, if needed, to follow the store when the clock of the host is too fast', async () => {
    await clock.start();
    for (let seconds = 0; seconds < 600; seconds += 1) {
      await storeTime.advance(SECOND_MS);
      await host.advance(1.05 * SECOND_MS);
    }
    expect(Math.abs(clock.now().getTime() - storeTime.now().getTime())).toBeLessThanOrEqual(4 * SECOND_MS);
  });

  it('takes the time of the store to be that of the middle between request and answer', async () => {
    store.now = async () => {
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
    [1_000, 0],
    [1_001, 1],
  ])(
    'when the clock of the host was changed by %d ms, reads the time of the store %d times before a payment',
    async (ms, times) => {
      await clock.start();
      shift(ms);
      let calls = 0;
      store.now = () => ((calls += 1), Promise.resolve(storeTime.now()));
      await clock.check();
      expect(calls).toBe(times);
    },
  );

  it.each([
    [1_000, true],
    [1_001, false],
  ])('when the clock is changed by %d ms while the store answers, accepts the answer: %s', async (ms, isAccepted) => {
    store.now = () => {
      shift(ms);
      return Promise.resolve(storeTime.now());
    };
    await clock.start();
    expect(clock.isKnown).toBe(isAccepted);
  });

  it('warns again when a corrected clock becomes wrong again', async () => {
    shift(HOUR_MS);
    await clock.start();
    shift(0);
    await pass(60 * SECOND_MS);
    expect(clock.offsetMs).toBe(0);
    shift(HOUR_MS);
    await pass(60 * SECOND_MS);
    expect(clock.offsetMs).toBe(-HOUR_MS);
    expect(log).toHaveLength(2);
  });

  it('corrects a clock that drifts within a minute', async () => {
    await clock.start();
    shift(HOUR_MS);
    await pass(60 * SECOND_MS);
    expect(clock.now()).toEqual(storeTime.now());
  });

  it('reads the time again before a payment if the clock was changed or the host suspended meanwhile', async () => {
    await clock.start();
    shift(3 * HOUR_MS);
    expect(clock.now()).not.toEqual(storeTime.now());
    await clock.check();
    expect(clock.now()).toEqual(storeTime.now());
  });

  describe('on a host whose clock is hours off, if the store did not tell the time at start-up,', () => {
    beforeEach(async () => {
      shift(3 * HOUR_MS);
      const { now } = store;
      store.now = () => Promise.reject(new Error('down'));
      await clock.start();
      store.now = now;
    });

    it('reads the time before a payment', async () => {
      await clock.check();
      expect(clock.now()).toEqual(storeTime.now());
    });

    it('reads the time by itself within seconds', async () => {
      await pass(2 * SECOND_MS);
      expect(clock.now()).toEqual(storeTime.now());
    });

    it('accepts a slow answer, since it has no other', async () => {
      store.now = async () => {
        const answered = storeTime.now();
        await host.sleep(5 * SECOND_MS);
        return answered;
      };
      const checked = clock.check();
      await pass(5 * SECOND_MS);
      await checked;
      expect(Math.abs(clock.now().getTime() - storeTime.now().getTime())).toBeLessThanOrEqual(3 * SECOND_MS);
    });

    it('refuses payments until it knows the time of the store', async () => {
      store.now = () => Promise.reject(new Error('down'));
      await expect(clock.check()).rejects.toThrow(PaymentStoreError);
      await expect(clock.check()).rejects.toThrow('while asking for the time');
    });
  });

  it('discards an answer that arrived while the host was suspended', async () => {
    await clock.start();
    let calls = 0;
    store.now = () => {
      calls += 1;
      storeTime.set(new Date(storeTime.now().getTime() + 600 * SECOND_MS));
      shift(0);
      return Promise.resolve(storeTime.now());
    };
    await pass(61 * SECOND_MS);
    expect(calls).toBe(1);
    expect(clock.now()).toEqual(storeTime.now());
    expect(clock.offsetMs).toBe(0);
  });

  it('keeps running if the clock of the host is set back, even before it reads the time again', async () => {
    await clock.start();
    await pass(30 * SECOND_MS);
    shift(-3 * HOUR_MS);
    expect(clock.now()).toEqual(storeTime.now());
  });

  it('corrects a clock that was changed within seconds', async () => {
    await clock.start();
    shift(3 * HOUR_MS);
    await pass(2 * SECOND_MS);
    expect(clock.now()).toEqual(storeTime.now());
  });

  it('does not read the time before a payment while the two clocks of the host agree', async () => {
    await clock.start();
    await pass(30 * SECOND_MS);
    let calls = 0;
    store.now = () => ((calls += 1), Promise.resolve(storeTime.now()));
    await clock.check();
    expect(calls).toBe(0);
  });

  it('keeps its correction while the store does not answer, or is slow', async () => {
    shift(HOUR_MS);
    await clock.start();
    store.now = () => Promise.reject(new Error('down'));
    await pass(60 * SECOND_MS);
    expect(clock.now()).toEqual(storeTime.now());
    store.now = async () => {
      await host.sleep(5 * SECOND_MS);
      return new Date(0);
    };
    await pass(70 * SECOND_MS);
    expect(clock.now()).toEqual(storeTime.now());
  });

  describe('before a request that moves money', () => {
    let calls: number;
    beforeEach(async () => {
      await clock.start();
      calls = 0;
      store.now = () => ((calls += 1), Promise.resolve(storeTime.now()));
    });

    it('reads the time once every five seconds, however many payments there are', async () => {
      await pass(5 * SECOND_MS);
      expect(await Promise.all([clock.refresh(), clock.refresh()])).toEqual([true, true]);
      expect(calls).toBe(0);
      await pass(SECOND_MS);
      expect(await Promise.all([clock.refresh(), clock.refresh(), clock.refresh()])).toEqual([true, true, true]);
      expect(calls).toBe(1);
      await pass(5 * SECOND_MS);
      expect(await clock.refresh()).toBe(true);
      expect(calls).toBe(1);
    });

    it('notices that both clocks of the host stood still', async () => {
      await pass(6 * SECOND_MS);
      await storeTime.advance(HOUR_MS);
      expect(await clock.refresh()).toBe(true);
      expect(clock.now()).toEqual(storeTime.now());
    });

    it('returns false if the store does not answer, and tries again the next time', async () => {
      await pass(6 * SECOND_MS);
      const { now } = store;
      store.now = () => Promise.reject(new Error('down'));
      expect(await clock.refresh()).toBe(false);
      store.now = now;
      expect(await clock.refresh()).toBe(true);
    });

    it('moves forward, but not back, by a slow answer', async () => {
      await pass(6 * SECOND_MS);
      for (const ahead of [0, HOUR_MS]) {
        store.now = async () => {
          const answered = new Date(storeTime.now().getTime() + ahead);
          await host.sleep(5 * SECOND_MS);
          return answered;
        };
        const refreshed = clock.refresh();
        await pass(5 * SECOND_MS);
        expect(await refreshed).toBe(true);
        expect(clock.now().getTime() - storeTime.now().getTime()).toBeGreaterThanOrEqual(ahead - 5 * SECOND_MS);
        await pass(6 * SECOND_MS);
      }
    });
  });

  it('waits seven seconds for a store that does not answer, and tries again for the next payment', async () => {
    await clock.start();
    shift(HOUR_MS);
    const { now } = store;
    store.now = () => new Promise(() => undefined);
    const checks = [clock.check(), clock.check()];
    const refused = Promise.allSettled(checks);
    await pass(8 * SECOND_MS);
    for (const result of await refused) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'PAYMENT_STORE' } });
    }
    store.now = now;
    await clock.check();
    expect(clock.now()).toEqual(storeTime.now());
  });

  it('tries again for the next payment after a store threw', async () => {
    const { now } = store;
    store.now = () => {
      throw new Error('no promise');
    };
    await clock.start();
    await expect(clock.check()).rejects.toBeInstanceOf(PaymentStoreError);
    store.now = now;
    await clock.check();
    expect(clock.now()).toEqual(storeTime.now());
  });

  it('does not read the time after it is stopped', async () => {
    await clock.start();
    clock.stop();
    let calls = 0;
    store.now = () => ((calls += 1), Promise.resolve(storeTime.now()));
    await pass(HOUR_MS);
    expect(calls).toBe(0);
  });
});
