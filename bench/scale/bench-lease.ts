import pg from 'pg';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { type LedgerEventType, ledgerEventOf } from '../../lib/payment/payment-event.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';
import { openSqlStore } from '../../lib/store/sql/open-sql-store.js';
import { aPaymentRecord } from '../../test/rigs/a-payment-record.js';
import { repeat } from '../payments/repeat.js';
import { Stores } from '../payments/stores.js';
import type { StoreKind } from '../payments/subjects.js';
import { median, printTable } from '../table.js';

const BLOCKED = 10_000;
const STORES: readonly StoreKind[] = ['memory', 'sqlite', 'postgres', 'mariadb'];
const LEASES = 50;
const TAKEN = 10;
const HOUR_MS = 3_600_000;
const TYPES: readonly LedgerEventType[] = ['payment.unknown', 'payment.succeeded'];
const HANDLER = { account: 'bench', handlerId: 'Bench.handler', lease: 'bench', leaseMs: HOUR_MS };

/** What a lease costs while the first deliveries that are due wait for an earlier one, beside a lease with none. */
export async function benchLease(): Promise<void> {
  const stores = new Stores();
  const rows: string[][] = [];
  try {
    for (const kind of STORES) {
      const [none, blocked] = [await leaseMs(stores, kind, 0), await leaseMs(stores, kind, BLOCKED)];
      const ms = [none, blocked].map((took) => median(took));
      rows.push([kind, ms[0]!.toFixed(2), ms[1]!.toFixed(2), (ms[1]! / ms[0]!).toFixed(1), blocked[0]!.toFixed(0)]);
    }
  } finally {
    await stores.close();
  }
  printTable(
    `A lease of ${TAKEN} deliveries behind ${BLOCKED} that wait for an earlier one, median ms`,
    ['', 'behind none', 'behind them', 'times', 'the first one'],
    rows,
  );
}

async function leaseMs(stores: Stores, kind: StoreKind, blocked: number) {
  const empty = await stores.empty(kind);
  const store: PaymentStore = kind === 'memory' ? new MemoryPaymentStore() : await openSqlStore(empty.url);
  await store.open();
  try {
    await store.announce(
      HANDLER.account,
      TYPES.map((type) => ({ handlerId: HANDLER.handlerId, type })),
    );
    await repeat((number) => publish(store, `blocked-${number}`), { from: 0, count: blocked, atOnce: 64 });
    while ((await store.fanOut(HANDLER.account, 500)) > 0);
    const earlier = { ...HANDLER, types: TYPES.slice(0, 1), limit: 500 };
    while ((await store.leaseDeliveries(earlier)).length > 0);
    if (kind === 'postgres') {
      // As autovacuum does within a minute. Until then the planner takes the table for an empty one, and reads all of it.
      const pool = new pg.Pool({ connectionString: empty.url });
      await pool.query('analyze');
      await pool.end();
    }
    const took: number[] = [];
    for (let lease = 0; lease < LEASES; lease += 1) {
      for (let number = 0; number < TAKEN / 2; number += 1) await publish(store, `free-${lease}-${number}`);
      await store.fanOut(HANDLER.account, 500);
      for (const expected of [TAKEN / 2, TAKEN / 2]) {
        const began = performance.now();
        const leased = await store.leaseDeliveries({ ...HANDLER, types: TYPES, limit: TAKEN });
        took.push(performance.now() - began);
        if (leased.length !== expected) throw new Error(`${leased.length} deliveries were leased, not ${expected}`);
        for (const { event } of leased) await store.acknowledge(HANDLER.account, HANDLER.handlerId, event.eventId);
      }
    }
    return took;
  } finally {
    await store.close();
    await empty.remove();
  }
}

/** Two versions of a payment, each with an event. */
async function publish(store: PaymentStore, conversationId: string): Promise<void> {
  const updatedAt = new Date(Date.now() - HOUR_MS);
  const fields = { account: HANDLER.account, conversationId, reference: null, updatedAt } as const;
  const first = aPaymentRecord({ ...fields, state: 'unknown', version: 1 });
  const second = aPaymentRecord({ ...fields, state: 'succeeded', version: 2 });
  await store.insert(first, ledgerEventOf(first));
  await store.replace(second, first, ledgerEventOf(second));
}
