import { StoreClock } from '../../lib/settlement/store-clock.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { TestClock } from '../../lib/testing/test-clock.js';
import { logLines } from '../operations/log-lines.js';
import { quiet } from '../operations/test-shop.js';
import { type Cases, eachOf, msOf, type Steps, takeSteps } from './steps.js';

const SECOND_MS = 1_000;
const REFUSED = 'The payment store failed while asking for the time';

/** What is seen in seconds; the offset is what the clock of the host is corrected by. */
const CASES: Cases = {
  'corrects a host from half a second on': ['start 499ms -> off by 0.499', 'start 500ms -> offset -0.5'],
  'warns of a host from five seconds on': ['start 5s -> offset -5', 'start 5001ms -> offset -5.001, warnings 1'],
  'reads the time once a minute, and no more after it is stopped': [
    'start 0s; pass 601s -> reads 10; stop; pass 1h -> reads 10',
  ],
  'follows the store backwards when the clock of the host is too fast': [
    'start 0s; passTooFast 10m -> off by 2, offset -28, reads 10, warnings 1',
  ],
  'takes the time to be that of the middle between request and answer': [
    'slow 1800ms 900ms; start 0s; pass 2s -> right',
    'start 0s; pass 6s; slow 2s; refresh; pass 2s -> true, off by -1, offset -1, reads 1',
  ],
  'reads the time before a payment if the clock of the host was changed by more than a second': [
    'start 0s; check -> ok',
    'start 0s; host 1000ms; check -> ok, off by 1',
    'start 0s; host 1001ms; check -> ok, offset -1.001, reads 1',
    'start 0s; host 3h; check -> ok, offset -10800, reads 1, warnings 1',
  ],
  'discards an answer if the clock of the host was changed meanwhile, or the host suspended': [
    'whileHost 1000ms; start 0s -> off by 1',
    'whileHost 1001ms; start 0s -> off by 1.001, unknown',
    'start 0s; whileSuspended 10m; pass 61s -> reads 1, unknown',
  ],
  'corrects a clock that was changed within seconds, and warns again when it is wrong again': [
    `start 1h -> offset -3600, warnings 1; host 0s; pass 2s -> reads 1, warnings 1
     host 1h; pass 2s -> offset -3600, reads 2, warnings 2`,
  ],
  'keeps running if the clock of the host is set back, even before it reads the time again': [
    'start 0s; pass 30s; host -3h -> unknown',
  ],
  'keeps its correction while the store does not answer, or is slow': [
    `start 1h; down; pass 60s -> offset -3600, reads 1, warnings 1
     slow 5s -24h; pass 70s -> offset -3600, reads 2, warnings 1`,
  ],
  'refuses payments until it knows the time, which it reads before a payment, by itself, and from a slow answer, too': [
    `down; start 3h; check -> ${REFUSED}, off by 10800, reads 1, unknown`,
    'down; start 3h; right; check -> ok, offset -10800, reads 1, warnings 1',
    'down; start 3h; right; pass 2s -> offset -10800, reads 1, warnings 1',
    'down; start 3h; slow 5s; check; pass 5s -> ok, off by -2.5, offset -10802.5, reads 1, warnings 1',
  ],
  'refuses a payment while the store hangs for seven seconds or throws, and asks again for the next one': [
    `start 0s; host 1h; hangs; check; pass 6s -> off by 3600, reads 1, unknown
     pass 2s -> ${REFUSED}, off by 3600, reads 1, unknown; right; check -> ok, offset -3600, reads 2, warnings 1`,
    `start 0s; host 1h; throws; check -> ${REFUSED}, off by 3600, reads 1, unknown
     right; check -> ok, offset -3600, reads 2, warnings 1`,
  ],
  'reads the time before requests that move money once every five seconds': [
    'start 0s; pass 5s; refresh -> true; pass 1s; refresh -> true, reads 1; pass 5s; refresh -> true, reads 1',
  ],
  'notices before such a request that both clocks of the host stood still': [
    'start 0s; pass 6s; pause 1h; refresh -> true, offset 3600, reads 1, warnings 1',
  ],
  'says before such a request that the store does not answer, and asks again for the next one': [
    'start 0s; pass 6s; down; refresh -> false, reads 1; right; refresh -> true, reads 2',
  ],
  'moves forward, but not back, by a slow answer before such a request': [
    'start 0s; pass 6s; slow 5s 5s; refresh; pass 5s -> true, reads 1',
    `start 0s; pass 6s; slow 5s; refresh; pass 5s -> true, reads 1
     pass 6s; slow 5s 1h; refresh; pass 5s -> true, off by 3597.5, offset 3597.5, reads 2, warnings 1`,
  ],
};

describe('StoreClock', () => {
  const records: unknown[] = [];
  const log = logLines(records);
  /** The clock of the store. */
  let storeTime: TestClock;
  let host: TestClock;
  let clock: StoreClock;
  /** How often the store was asked for the time. */
  let reads: number;
  /** What the store does when it is asked. */
  let answer: () => Promise<Date>;
  /** What came of the calls of `check` and `refresh`. */
  let results: string[];

  beforeEach(() => {
    [storeTime, host] = [new TestClock(), new TestClock()];
    const store = new MemoryPaymentStore({ clock: storeTime });
    [reads, results, answer] = [0, [], right];
    store.now = () => ((reads += 1), answer());
    clock = new StoreClock(host, store);
  });
  afterEach(() => clock.stop());

  const right = () => Promise.resolve(storeTime.now());
  const setStore = (aheadMs: number) => storeTime.set(new Date(storeTime.now().getTime() + aheadMs));
  const setHost = (aheadMs: number) => host.set(new Date(storeTime.now().getTime() + aheadMs));
  const offBy = () => clock.now().getTime() - storeTime.now().getTime();

  /** Advances both clocks, second by second. */
  async function pass(ms: number, hostSpeed = 1): Promise<void> {
    for (let passed = 0; passed < ms; passed += SECOND_MS) {
      await storeTime.advance(SECOND_MS);
      await host.advance(hostSpeed * SECOND_MS);
    }
  }

  /** Three callers at once. */
  function call(method: () => Promise<boolean | void>): Promise<void> {
    results = [];
    for (let calls = 0; calls < 3; calls += 1) {
      void method().then(
        (result) => results.push(`${result ?? 'ok'}`),
        (error: Error) => results.push(error.message.split('. ')[0]!),
      );
    }
    return quiet();
  }

  const STEPS: Steps = {
    /** On a host that is so far ahead of the store. */
    start: async (ahead) => {
      setHost(msOf(ahead));
      void clock.start();
      await quiet();
      reads = 0;
    },
    stop: () => clock.stop(),
    pass: (time) => pass(msOf(time)),
    passTooFast: (time) => pass(msOf(time), 1.05),
    /** Someone sets the clock of the host. */
    host: (ahead) => setHost(msOf(ahead)),
    /** Both clocks of the host stand still, as those of a virtual machine that is paused. */
    pause: (time) => storeTime.advance(msOf(time)),
    check: () => call(() => clock.check()),
    refresh: () => call(() => clock.refresh()),

    // What the store does from now on.
    right: () => (answer = right),
    down: () => (answer = () => Promise.reject(new Error('down'))),
    throws: () =>
      (answer = () => {
        throw new Error('no promise');
      }),
    hangs: () => (answer = () => new Promise(() => undefined)),
    /** It answers after a while, with a time that was right at the beginning but for so much. */
    slow: (time, ahead) => {
      answer = async () => {
        const said = new Date(storeTime.now().getTime() + msOf(ahead));
        await host.sleep(msOf(time));
        return said;
      };
    },
    /** Meanwhile someone sets the clock of the host. */
    whileHost: (ahead) => (answer = () => (setHost(msOf(ahead)), right())),
    /** Meanwhile the host is suspended: only its wall clock goes on. */
    whileSuspended: (time) => (answer = () => (setStore(msOf(time)), setHost(0), right())),
  };

  function see(): string {
    const facts: readonly (readonly [what: string, value: number | boolean])[] = [
      ['off by', offBy() / SECOND_MS],
      ['offset', clock.offsetMs / SECOND_MS],
      ['reads', reads],
      ['warnings', log.length],
      ['unknown', !clock.isKnown],
    ];
    const shown = facts.flatMap(([what, value]) => (value ? [value === true ? what : `${what} ${value}`] : []));
    return [...new Set(results.splice(0)), ...shown].join(', ') || 'right';
  }

  it.each(eachOf(CASES))('%s (script %#)', (_what, script) => takeSteps(script, STEPS, see));

  it.each([
    ['3h', 'ahead of'],
    ['-3h', 'behind'],
  ])('warns once of a host whose clock is %s off, and says what that means', async (ahead, side) => {
    await takeSteps(`start ${ahead}; pass 10m`, STEPS, see);
    expect(log).toEqual([
      `warn This host's clock is 10800 seconds ${side} the payment store's. The store's time counts for payments; ` +
        "the gateway still gets this host's time (x-Timestamp) and may refuse it. Set the clock (NTP).",
    ]);
    expect(records).toMatchObject([{ clockOffsetMs: -msOf(ahead) }]);
    expect(offBy()).toBe(0);
  });

  it('uses the clock of the host for timers and durations', async () => {
    await takeSteps('start 1h', STEPS, see);
    const woken: string[] = [];
    void clock.sleep(500).then(() => woken.push('sleeper'));
    clock.timer(900, () => woken.push('timer'));
    await pass(SECOND_MS);
    expect(woken).toEqual(['sleeper', 'timer']);
    expect(clock.monotonic()).toBe(host.monotonic());
  });
});
