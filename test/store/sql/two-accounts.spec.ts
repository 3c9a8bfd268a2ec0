import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SqlPaymentStore } from '../../../lib/store/sql/index.js';
import { sqlitePaymentStore } from '../../../lib/store/sql/index.js';
import { PAIR_ALIVE_MS } from '../../../lib/store/payment-store.js';
import { at, StoreTrial } from '../contract/store-trial.js';
import { TestClock } from '../../../lib/testing/index.js';

const LATER = PAIR_ALIVE_MS + 1;
const HANDLER = 'Orders.paid';

let folder: string;

/** Two accounts in one database, whose handlers and payments have the same ids. */
describe('two accounts on one database', () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'two-accounts-'));
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  let store: SqlPaymentStore;
  let one: StoreTrial;
  let other: StoreTrial;
  let files = 0;

  beforeEach(async () => {
    const clock = new TestClock(at(0));
    store = sqlitePaymentStore({ file: join(folder, `${(files += 1)}.db`), clock });
    await store.open();
    [one, other] = [new StoreTrial(store, store, clock), new StoreTrial(store, store, clock)];
  });
  afterEach(() => store.close());

  const publish = async (trial: StoreTrial, conversationId: string, state: 'failed' | 'expired' = 'failed') => {
    await trial.publish(await trial.insert({ conversationId }), state, at(1));
    await trial.fanOut();
  };
  const numbers = async (trial: StoreTrial): Promise<number[]> => {
    const { waitingEvents, openDeliveries, orphanedDeliveries, parkedDeliveries } = await store.counts(trial.account);
    return [waitingEvents, openDeliveries, orphanedDeliveries, parkedDeliveries];
  };

  it('count their own events that wait, and their own deliveries', async () => {
    await publish(one, 'A1');
    expect([await numbers(one), await numbers(other)]).toEqual([
      [1, 0, 0, 0],
      [0, 0, 0, 0],
    ]);
    await one.announce(HANDLER, 'payment.failed');
    await one.fanOut();
    expect([await numbers(one), await numbers(other)]).toEqual([
      [0, 1, 0, 0],
      [0, 0, 0, 0],
    ]);
  });

  it('keep no pair of the other alive by announcing the same handler', async () => {
    for (const trial of [one, other]) {
      await trial.announce(HANDLER, 'payment.failed');
      await publish(trial, 'A1');
    }
    one.moveTo(LATER);
    await other.announce(HANDLER, 'payment.failed');
    expect([await numbers(one), await numbers(other)]).toEqual([
      [0, 1, 1, 0],
      [0, 1, 0, 0],
    ]);
  });

  it('count as orphaned what neither its handler nor its type keeps alive', async () => {
    await one.announce(HANDLER, 'payment.failed', 'payment.expired');
    await one.announce('Orders.other', 'payment.failed');
    await publish(one, 'A1');
    await publish(one, 'A2', 'expired');
    one.moveTo(PAIR_ALIVE_MS - 1);
    expect(await numbers(one)).toEqual([0, 3, 0, 0]);
    one.moveTo(PAIR_ALIVE_MS);
    expect(await numbers(one)).toEqual([0, 3, 3, 0]);
    one.moveTo(LATER);
    // The handler by another type, and the type by another handler.
    await one.announce(HANDLER, 'payment.expired');
    expect(await numbers(one)).toEqual([0, 3, 2, 0]);
    await one.announce('Orders.other', 'payment.failed');
    expect(await numbers(one)).toEqual([0, 3, 1, 0]);
    await one.announce(HANDLER, 'payment.failed');
    expect(await numbers(one)).toEqual([0, 3, 0, 0]);
  });

  it('forget their own old pairs alone, with what is open and what is parked', async () => {
    for (const trial of [one, other]) {
      await trial.announce(HANDLER, 'payment.failed');
      await trial.announce('Orders.other', 'payment.failed');
      await publish(trial, 'A1');
      await publish(trial, 'A2');
      await trial.fail(HANDLER, { parked: true });
    }
    one.moveTo(PAIR_ALIVE_MS);
    await one.purge({ pairsMs: PAIR_ALIVE_MS });
    expect(await numbers(one)).toEqual([0, 3, 3, 1]);
    one.moveTo(LATER);
    await one.announce('Orders.other', 'payment.failed');
    await one.purge({ pairsMs: PAIR_ALIVE_MS });
    // Of the first account, what its second handler has to do is left; of the second account, everything.
    expect([await numbers(one), await numbers(other)]).toEqual([
      [0, 2, 0, 0],
      [0, 3, 3, 1],
    ]);
    expect((await one.lease('Orders.other')).length).toBe(2);
    // The pair itself is forgotten: what happens now makes no delivery to it.
    await publish(one, 'A3');
    expect(await one.lease(HANDLER)).toEqual([]);
    // And of the other account it is not.
    await publish(other, 'A3');
    expect((await other.lease(HANDLER)).length).toBe(2);
  });

  it('have ids, keys, tokens and references of their own', async () => {
    const same = {
      conversationId: 'A1',
      idempotencyKey: 'key',
      tokenHash: 'hash',
      reference: 'order-1',
      referenceLock: 'order-1',
      state: 'charging',
    } as const;
    await one.insert(same);
    await other.insert(same);
    const fresh = { ...same, conversationId: 'A2', idempotencyKey: 'k2', tokenHash: 'h2', referenceLock: null };
    expect(await store.insert(one.record(fresh))).toBeNull();
    for (const [changes, key] of [
      [{ conversationId: 'A1' }, 'conversationId'],
      [{ idempotencyKey: 'key' }, 'idempotencyKey'],
      [{ tokenHash: 'hash' }, 'tokenHash'],
      [{ referenceLock: 'order-1' }, 'referenceLock'],
    ] as const) {
      const record = { ...fresh, conversationId: 'A9', idempotencyKey: 'k9', tokenHash: 'h9', ...changes };
      expect([key, await store.insert(one.record(record))]).toEqual([key, key]);
    }
  });
});
