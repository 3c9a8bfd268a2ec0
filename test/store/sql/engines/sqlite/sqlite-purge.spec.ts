import { jest } from '@jest/globals';
import Database from 'better-sqlite3';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toPayment } from '../../../../../lib/payment/payment.js';
import { MAX_WAIT_MS, type PurgeCounts } from '../../../../../lib/store/payment-store.js';
import { type SqlPaymentStore, sqlitePaymentStore } from '../../../../../lib/store/sql/index.js';
import { aPaymentEvent, TestClock } from '../../../../../lib/testing/index.js';
import { aPaymentRecord } from '../../../../rigs/a-payment-record.js';

/** What a purge tells that ran out of time. */
const STOPPED: PurgeCounts = { payments: 0, events: 0, unheard: 0, hasMore: true };
let folder: string;
let stores = 0;

describe('sqlite purge', () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'payments-'));
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  test('a purge that takes long leaves the rest for the next', async () => {
    const store = sqlitePaymentStore({ file: join(folder, 'purge.db') });
    await store.open();
    const finalizedAt = new Date(Date.now() - 60_000);
    const records = Array.from({ length: 700 }, (_, number) =>
      aPaymentRecord({ conversationId: `OLD${number}`, reference: null, state: 'failed', finalizedAt }),
    );
    await Promise.all(records.map((record) => store.insert(record)));
    const retention = { paymentsMs: 1_000, pairsMs: 60_000, keysMs: 60_000 };
    expect(await slowly(() => store.purge('default', retention))).toEqual({ ...STOPPED, payments: 200 });
    expect(await store.purge('default', retention)).toEqual({ payments: 500, events: 0, unheard: 0 });
    await store.close();
  });

  describe('a purge that takes long', () => {
    const START = Date.parse('2026-03-01T09:00:00Z');
    const retention = { paymentsMs: 1_000, pairsMs: 3_600_000, keysMs: 3_600_000 };
    let clock: TestClock;
    let store: SqlPaymentStore;

    beforeEach(async () => {
      clock = new TestClock(new Date(START));
      store = sqlitePaymentStore({ file: join(folder, `slow-${(stores += 1)}.db`), clock });
      await store.open();
      await store.announce('default', [{ handlerId: 'Orders.paid', type: 'payment.succeeded' }]);
    });

    afterEach(() => store.close());

    /** Payments that were settled that many seconds after the start, those with an event for the handler. */
    const settle = (count: number, second: number, hasEvent: boolean) =>
      Promise.all(
        Array.from({ length: count }, (_, number) => {
          const at = new Date(START + second * 1_000);
          const fields = {
            conversationId: `S${second}N${number}`,
            reference: null,
            idempotencyKey: `${second} ${number}`,
          };
          const record = aPaymentRecord({ ...fields, state: 'succeeded', updatedAt: at, finalizedAt: at });
          return store.insert(
            record,
            hasEvent ? aPaymentEvent({ ...toPayment(record), state: 'succeeded' }) : undefined,
          );
        }),
      );

    const move = (ms: number) => clock.set(new Date(START + ms));

    test('gets past those that have to stay, however many they are', async () => {
      await settle(500, 0, true);
      await settle(300, 1, false);
      move(60_000);
      const purged: PurgeCounts[] = [];
      for (let passes = 0; passes < 5; passes += 1) {
        purged.push(await slowly(() => store.purge('default', retention)));
      }
      expect(purged.map(({ payments }) => payments)).toEqual([0, 0, 100, 200, 0]);
      expect(purged.map(({ hasMore = false }) => hasMore)).toEqual([true, true, true, true, false]);
      // The next one begins again with those that had to stay.
      move(MAX_WAIT_MS);
      expect(await store.purge('default', retention)).toMatchObject({ payments: 500, unheard: 500 });
    });

    test('takes payments with very many refunds in several steps, each with all of its own', async () => {
      const at = new Date(START);
      const settled = { state: 'succeeded', updatedAt: at, finalizedAt: at } as const;
      for (const conversationId of ['P1', 'P2', 'P3']) {
        await store.insert(aPaymentRecord({ ...settled, conversationId, reference: null }));
        const refund = { ...settled, parentId: conversationId, referenceLock: null };
        const ids = Array.from({ length: 600 }, (_, number) => `R${number} of ${conversationId}`);
        await Promise.all(
          ids.map((id) => store.insert(aPaymentRecord({ ...refund, kind: 'refund', conversationId: id }))),
        );
      }
      move(60_000);
      for (const id of ['P1', 'P2', 'P3']) {
        const isLast = id === 'P3';
        const counts = { payments: 1, events: 0, unheard: 0 };
        const purged = await slowly(() => store.purge('default', retention));
        expect([id, purged]).toEqual([id, isLast ? counts : { ...counts, hasMore: true }]);
        expect(await store.findRefunds('default', id)).toEqual([]);
      }
      expect(
        await store.list({ account: 'default', type: 'refund', states: ['succeeded'], after: null, limit: 10 }),
      ).toEqual([]);
    });

    test('takes a payment that has more refunds than a statement may have values', async () => {
      const at = START;
      await store.insert(
        aPaymentRecord({ conversationId: 'P', state: 'succeeded', dueAt: null, finalizedAt: new Date(at) }),
      );
      const database = new Database(join(folder, `slow-${stores}.db`));
      database.exec(`with recursive number(i) as (select 1 union all select i + 1 from number where i < 40000)
        insert into card_payment (account, conversation_id, version, state, is_refund, parent_id, created_at, updated_at, finalized_at)
        select 'default', 'R' || i, 1, 'failed', 1, 'P', ${at}, ${at}, ${at} from number`);
      database.close();
      move(60_000);
      expect((await store.purge('default', retention)).payments).toBe(1);
      expect(await store.findRefunds('default', 'P')).toEqual([]);
    });

    test('leaves deliveries of a pair that nobody announces any more for the next', async () => {
      await settle(1_500, 0, true);
      await store.fanOut('default', 2_000);
      move(7_200_000);
      const keepPayments = { ...retention, paymentsMs: null };
      expect(await slowly(() => store.purge('default', keepPayments))).toEqual(STOPPED);
      expect((await store.counts('default')).openDeliveries).toBe(500);
      expect(await slowly(() => store.purge('default', keepPayments))).toEqual({ payments: 0, events: 0, unheard: 0 });
      expect((await store.counts('default')).openDeliveries).toBe(0);
    });

    test('lets everything else run after each step', async () => {
      await settle(3_000, 0, false);
      await settle(3_000, 1, true);
      await store.fanOut('default', 3_000);
      move(60_000);
      expect(await turnsDuring(() => store.purge('default', retention))).toBeGreaterThanOrEqual(15);
      move(7_200_000);
      // Of deliveries, and of keys.
      const steps = 3 + 3;
      const keepPayments = { ...retention, paymentsMs: null };
      expect(await turnsDuring(() => store.purge('default', keepPayments))).toBeGreaterThanOrEqual(steps);
    });

    test('says so when keys are left', async () => {
      await settle(1_500, 0, false);
      move(60_000);
      await store.purge('default', retention);
      move(7_200_000);
      expect(await slowly(() => store.purge('default', retention))).toEqual(STOPPED);
      expect(await slowly(() => store.purge('default', retention))).toEqual({ payments: 0, events: 0, unheard: 0 });
    });
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

/** Each look at the clock is ten seconds after the last. */
async function slowly<T>(work: () => Promise<T>): Promise<T> {
  let seconds = 0;
  const looks = jest.spyOn(performance, 'now').mockImplementation(() => (seconds += 10) * 1_000);
  try {
    return await work();
  } finally {
    looks.mockRestore();
  }
}
