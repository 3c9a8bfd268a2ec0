import { PaymentStoreError } from 'nestjs-card-payment';
import { StoreClock } from '../../lib/process/store-clock.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { logLines } from '../flows/log-lines.js';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;

describe('StoreClock', () => {
  const records: unknown[] = [];
  const log = logLines(records);
  /** The store's time. */
  let truth: TestClock;
  let host: TestClock;
  let store: MemoryPaymentStore;
  let clock: StoreClock;

  beforeEach(() => {
    truth = new TestClock();
    host = new TestClock();
    store = new MemoryPaymentStore({ clock: truth });
    clock = new StoreClock(host, store);
  });

  afterEach(() => clock.stop());

  function shift(ms: number): void {
    host.set(new Date(truth.now().getTime() + ms));
  }

  /** Time passes for both, second by second. */
  async function pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= SECOND_MS) {
      await truth.advance(Math.min(left, SECOND_MS));
      await host.advance(Math.min(left, SECOND_MS));
    }
  }

  it.each([3 * HOUR_MS, -3 * HOUR_MS])(
    "shows the store's time on a host that is %d ms off, and warns once",
    async (off) => {
      shift(off);
      await clock.start();
      expect(clock.now()).toEqual(truth.now());
      expect(clock.offsetMs).toBe(-off);
      await pass(10 * 60 * SECOND_MS);
      expect(clock.now()).toEqual(truth.now());
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
  ])('on a host that is %d ms ahead adds %d ms, and warns %d times', async (ahead, offset, warnings) => {
    shift(ahead);
    await clock.start();
    expect([clock.offsetMs, log.length]).toEqual([offset, warnings]);
  });

  it('waits and measures by the host', async () => {
    shift(HOUR_MS);
    await clock.start();
    const woken: string[] = [];
    void clock.sleep(500).then(() => woken.push('sleeper'));
    clock.timer(900, () => woken.push('timer'));
    await pass(SECOND_MS);
    expect(woken).toEqual(['sleeper', 'timer']);
    expect(clock.monotonic()).toBe(host.monotonic());
  });

  it('asks once a minute', async () => {
    await clock.start();
    let asked = 0;
    store.now = () => ((asked += 1), Promise.resolve(truth.now()));
    await pass(10 * 60 * SECOND_MS + SECOND_MS);
    expect(asked).toBe(10);
  });

  it('follows backwards, too, where the host goes fast', async () => {
    await clock.start();
    for (let seconds = 0; seconds < 600; seconds += 1) {
      await truth.advance(SECOND_MS);
      await host.advance(1.05 * SECOND_MS);
    }
    expect(Math.abs(clock.now().getTime() - truth.now().getTime())).toBeLessThanOrEqual(4 * SECOND_MS);
  });

  it('takes what the store says for the time in the middle between question and answer', async () => {
    store.now = async () => {
      await host.sleep(0.9 * SECOND_MS);
      const said = new Date(host.now());
      await host.sleep(0.9 * SECOND_MS);
      return said;
    };
    const started = clock.start();
    await pass(2 * SECOND_MS);
    await started;
    expect(clock.offsetMs).toBe(0);
  });

  it.each([
    [1_000, 0],
    [1_001, 1],
  ])('asks anew before a payment when the clock was set by %d ms: %d times', async (ms, times) => {
    await clock.start();
    shift(ms);
    let asked = 0;
    store.now = () => ((asked += 1), Promise.resolve(truth.now()));
    await clock.check();
    expect(asked).toBe(times);
  });

  it.each([
    [1_000, true],
    [1_001, false],
  ])('where the clock is set by %d ms while the store is asked, believes the answer: %s', async (ms, isBelieved) => {
    store.now = () => {
      shift(ms);
      return Promise.resolve(truth.now());
    };
    await clock.start();
    expect(clock.isKnown).toBe(isBelieved);
  });

  it('warns again when a clock that was set right goes wrong again', async () => {
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

  it('follows within a minute a host that drifts', async () => {
    await clock.start();
    shift(HOUR_MS);
    await pass(60 * SECOND_MS);
    expect(clock.now()).toEqual(truth.now());
  });

  it('asks anew before a payment when the clock was set, or the host was suspended, since it asked', async () => {
    await clock.start();
    shift(3 * HOUR_MS);
    expect(clock.now()).not.toEqual(truth.now());
    await clock.check();
    expect(clock.now()).toEqual(truth.now());
  });

  describe('on a host that is hours off, while the store did not say the time at the start', () => {
    beforeEach(async () => {
      shift(3 * HOUR_MS);
      const { now } = store;
      store.now = () => Promise.reject(new Error('down'));
      await clock.start();
      store.now = now;
    });

    it('asks before a payment', async () => {
      await clock.check();
      expect(clock.now()).toEqual(truth.now());
    });

    it('asks by itself within seconds', async () => {
      await pass(2 * SECOND_MS);
      expect(clock.now()).toEqual(truth.now());
    });

    it('believes an answer that took long, since it is all that it has', async () => {
      store.now = async () => {
        const asked = truth.now();
        await host.sleep(5 * SECOND_MS);
        return asked;
      };
      const checked = clock.check();
      await pass(5 * SECOND_MS);
      await checked;
      expect(Math.abs(clock.now().getTime() - truth.now().getTime())).toBeLessThanOrEqual(3 * SECOND_MS);
    });

    it('lets no payment begin by a time that is a guess', async () => {
      store.now = () => Promise.reject(new Error('down'));
      await expect(clock.check()).rejects.toThrow(PaymentStoreError);
      await expect(clock.check()).rejects.toThrow('while asking for the time');
    });
  });

  it('believes no answer that came while the host was suspended', async () => {
    await clock.start();
    let asked = 0;
    store.now = () => {
      asked += 1;
      truth.set(new Date(truth.now().getTime() + 600 * SECOND_MS));
      shift(0);
      return Promise.resolve(truth.now());
    };
    await pass(61 * SECOND_MS);
    expect(asked).toBe(1);
    expect(clock.now()).toEqual(truth.now());
    expect(clock.offsetMs).toBe(0);
  });

  it('goes on where the clock of the host was set back, before the store is asked anew', async () => {
    await clock.start();
    await pass(30 * SECOND_MS);
    shift(-3 * HOUR_MS);
    expect(clock.now()).toEqual(truth.now());
  });

  it('follows within seconds a clock that was set', async () => {
    await clock.start();
    shift(3 * HOUR_MS);
    await pass(2 * SECOND_MS);
    expect(clock.now()).toEqual(truth.now());
  });

  it('asks nobody before a payment while the clocks of the host agree', async () => {
    await clock.start();
    await pass(30 * SECOND_MS);
    let asked = 0;
    store.now = () => ((asked += 1), Promise.resolve(truth.now()));
    await clock.check();
    expect(asked).toBe(0);
  });

  it('keeps what it knows while the store does not answer, or takes long', async () => {
    shift(HOUR_MS);
    await clock.start();
    store.now = () => Promise.reject(new Error('down'));
    await pass(60 * SECOND_MS);
    expect(clock.now()).toEqual(truth.now());
    store.now = async () => {
      await host.sleep(5 * SECOND_MS);
      return new Date(0);
    };
    await pass(70 * SECOND_MS);
    expect(clock.now()).toEqual(truth.now());
  });

  describe('before a request that moves money', () => {
    let asked: number;
    beforeEach(async () => {
      await clock.start();
      asked = 0;
      store.now = () => ((asked += 1), Promise.resolve(truth.now()));
    });

    it('asks once every five seconds, however many payments there are', async () => {
      await pass(5 * SECOND_MS);
      expect(await Promise.all([clock.refresh(), clock.refresh()])).toEqual([true, true]);
      expect(asked).toBe(0);
      await pass(SECOND_MS);
      expect(await Promise.all([clock.refresh(), clock.refresh(), clock.refresh()])).toEqual([true, true, true]);
      expect(asked).toBe(1);
      await pass(5 * SECOND_MS);
      expect(await clock.refresh()).toBe(true);
      expect(asked).toBe(1);
    });

    it('learns that both clocks of the host stood still', async () => {
      await pass(6 * SECOND_MS);
      await truth.advance(HOUR_MS);
      expect(await clock.refresh()).toBe(true);
      expect(clock.now()).toEqual(truth.now());
    });

    it('says so where the store does not answer, and asks again the next time', async () => {
      await pass(6 * SECOND_MS);
      const { now } = store;
      store.now = () => Promise.reject(new Error('down'));
      expect(await clock.refresh()).toBe(false);
      store.now = now;
      expect(await clock.refresh()).toBe(true);
    });

    it('takes of a slow answer that it is not earlier', async () => {
      await pass(6 * SECOND_MS);
      for (const ahead of [0, HOUR_MS]) {
        store.now = async () => {
          const said = new Date(truth.now().getTime() + ahead);
          await host.sleep(5 * SECOND_MS);
          return said;
        };
        const refreshed = clock.refresh();
        await pass(5 * SECOND_MS);
        expect(await refreshed).toBe(true);
        expect(clock.now().getTime() - truth.now().getTime()).toBeGreaterThanOrEqual(ahead - 5 * SECOND_MS);
        await pass(6 * SECOND_MS);
      }
    });
  });

  it('waits seven seconds for a store that never says the time, and asks it anew', async () => {
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
    expect(clock.now()).toEqual(truth.now());
  });

  it('asks a store that throws anew, too', async () => {
    const { now } = store;
    store.now = () => {
      throw new Error('no promise');
    };
    await clock.start();
    await expect(clock.check()).rejects.toBeInstanceOf(PaymentStoreError);
    store.now = now;
    await clock.check();
    expect(clock.now()).toEqual(truth.now());
  });

  it('asks no more once it is stopped', async () => {
    await clock.start();
    clock.stop();
    let asked = 0;
    store.now = () => ((asked += 1), Promise.resolve(truth.now()));
    await pass(HOUR_MS);
    expect(asked).toBe(0);
  });
});
