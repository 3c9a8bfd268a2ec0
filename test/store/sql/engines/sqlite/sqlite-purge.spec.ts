import { jest } from '@jest/globals';
import {
  MAX_WAIT_MS,
  type PaymentStore,
  type PurgeCounts,
  type Retention,
} from '../../../../../lib/store/payment-store.js';
import { TestClock } from '../../../../../lib/testing/index.js';
import { openedStoreAt } from '../../../../rigs/shared-stores.js';
import { suiteStore } from '../../../../rigs/suite-stores.js';
import { at, many, StoreTrial } from '../../../contract/store-trial.js';

const HOUR_MS = 3_600_000;

describe('a purge on SQLite', () => {
  let url: string;
  let store: PaymentStore;
  let trial: StoreTrial;

  beforeEach(async () => {
    url = await (await suiteStore('SQLite')).create();
    const clock = new TestClock(at(0));
    store = await openedStoreAt(url, { clock });
    trial = new StoreTrial(store, store, clock);
    await trial.announce('Orders.paid', 'payment.succeeded');
  });
  afterEach(() => store.close());

  /** Payments that were settled that many seconds after the start, each with a key and, if so, an event for the handler. */
  const settle = (count: number, second: number, hasEvent: boolean) =>
    many(count, (index) => {
      const [moment, idempotencyKey] = [at(second * 1_000), `${second} ${index}`];
      const settled = { state: 'succeeded', updatedAt: moment, finalizedAt: moment, idempotencyKey } as const;
      const record = trial.record(settled);
      return hasEvent ? trial.putWithEvent(record) : trial.put(record);
    });

  const purge = (retention: Partial<Retention> = {}) =>
    trial.purge({ paymentsMs: 1_000, pairsMs: HOUR_MS, keysMs: HOUR_MS, ...retention });

  /** What each of these purges did, and whether it ran out of time: each of its looks at the clock is ten seconds after the last. */
  async function slowly(times: number, retention?: Partial<Retention>): Promise<string> {
    let seconds = 0;
    const looks = jest.spyOn(performance, 'now').mockImplementation(() => (seconds += 10) * 1_000);
    const purged: PurgeCounts[] = [];
    while (purged.length < times) purged.push(await purge(retention));
    looks.mockRestore();
    // The events of what is left are not counted.
    expect(purged).toEqual(purged.map((counts) => ({ ...counts, events: 0, unheard: 0 })));
    return purged.map(({ payments, hasMore }) => `${payments}${hasMore ? ' and more' : ''}`).join(', ');
  }

  test('that takes long leaves the rest for the next', async () => {
    await settle(700, 0, false);
    trial.moveTo(60_000);
    expect(await slowly(1)).toBe('200 and more');
    expect(await purge()).toEqual({ payments: 500, events: 0, unheard: 0 });
  });

  test('gets past those that have to stay, however many they are', async () => {
    await settle(500, 0, true);
    await settle(300, 1, false);
    trial.moveTo(60_000);
    expect(await slowly(5)).toBe('0 and more, 0 and more, 100 and more, 200 and more, 0');
    // The next one begins again with those that had to stay.
    trial.moveTo(MAX_WAIT_MS);
    expect(await purge()).toMatchObject({ payments: 500, unheard: 500 });
  });

  test('lets everything else run after each step', async () => {
    await settle(3_000, 0, false);
    await settle(3_000, 1, true);
    await trial.fanOut({ limit: 3_000 });
    trial.moveTo(60_000);
    expect(await turnsDuring(() => purge())).toBeGreaterThanOrEqual(15);
    trial.moveTo(2 * HOUR_MS);
    // Of deliveries, and of keys.
    const steps = 3 + 3;
    expect(await turnsDuring(() => purge({ paymentsMs: null }))).toBeGreaterThanOrEqual(steps);
  });
});

/** How often the event loop comes round meanwhile. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let next = setImmediate(function count() {
    turns += 1;
    next = setImmediate(count);
  });
  await work();
  clearImmediate(next);
  return turns;
}
