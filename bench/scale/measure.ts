import pg from 'pg';
import { OnPayment } from 'nestjs-card-payment';
import { postgresPaymentStore } from 'nestjs-card-payment/sql';
import { startMerchant } from '../merchant.js';
import { announce, insertUnderWay, operations } from './operations.js';
import { pagesSoFar, sizes, wholesOf } from './pages.js';
import { Plans, SHOW_PLANS } from './plans.js';
import { measurePurge, type PurgeFigures } from './purge.js';

const TIMED_CALLS = 300;
const EXPLAINED_CALLS = 50;
const IDLE_PASSES = 20;

export interface OperationFigures {
  readonly ms: readonly number[];
  /** Pages of 8 KiB that a call asks for, by index and table. */
  readonly pages: ReadonlyMap<string, number>;
  /** Indexes that its statements search; tables that they read as a whole, with a `!`. */
  readonly searched: readonly string[];
}

/** What a database of one size showed. */
export interface ScaleFigures {
  readonly operations: ReadonlyMap<string, OperationFigures>;
  readonly sizes: ReadonlyMap<string, number>;
  readonly purge: PurgeFigures;
}

export async function measure(connectionString: string, stored: number): Promise<ScaleFigures> {
  const pool = new pg.Pool({ connectionString, max: 1, options: SHOW_PLANS });
  const plans = new Plans(pool);
  const explained = postgresPaymentStore({ pool });
  await explained.open();
  const bytes = await sizes(pool);
  await announce(explained);
  await insertUnderWay(explained);
  await pool.query('analyze');

  const pages = new Map<string, ReadonlyMap<string, number>>();
  const searched = new Map<string, readonly string[]>();
  const wholes = await wholesOf(pool);
  plans.take(wholes);
  for (const { name, calls } of operations(explained, stored, EXPLAINED_CALLS, 0)) {
    const before = await pagesSoFar(pool);
    for (const call of calls) await call();
    const after = await pagesSoFar(pool);
    const perCall = [...after].map(([relation, sum]): [string, number] => [
      relation,
      (sum - (before.get(relation) ?? 0)) / calls.length,
    ]);
    pages.set(name, new Map(perCall.filter(([, count]) => count > 0)));
    searched.set(name, plans.take(wholes));
  }
  await explained.close();
  await pool.end();

  const store = postgresPaymentStore({ connectionString, maxConnections: 1 });
  await store.open();
  const figures = new Map<string, OperationFigures>();
  for (const { name, calls } of operations(store, stored, TIMED_CALLS, 1)) {
    const ms = await timed(calls);
    figures.set(name, { ms, pages: pages.get(name)!, searched: searched.get(name)! });
  }
  await store.close();
  for (const [name, ms] of await reconcilePasses(connectionString)) {
    figures.set(name, { ms, pages: new Map(), searched: [] });
  }
  return { operations: figures, sizes: bytes, purge: await measurePurge(connectionString) };
}

async function timed(calls: readonly (() => Promise<unknown>)[]): Promise<number[]> {
  const ms: number[] = [];
  for (const call of calls) {
    const began = performance.now();
    await call();
    ms.push(performance.now() - began);
  }
  return ms;
}

class Orders {
  @OnPayment(['succeeded', 'failed', 'unknown', 'review'])
  settled(): void {}
}

/** Passes of the background work: those that settle a thousand unknown payments, and idle ones. */
async function reconcilePasses(storeUrl: string): Promise<Map<string, number[]>> {
  const { payments, app } = await startMerchant({ storeUrl, background: false }, Orders);
  const busy: number[] = [];
  for (let settled = 0; settled < 1_000;) {
    const began = performance.now();
    const counts = await payments.reconcile();
    if (counts.settled === 0) throw new Error('nothing was due');
    settled += counts.settled;
    busy.push(performance.now() - began);
  }
  const idle = await timed(Array.from({ length: IDLE_PASSES }, () => () => payments.reconcile()));
  await app.close();
  return new Map([
    ['reconcile (a pass with 200 due)', busy],
    ['reconcile (an idle pass)', idle],
  ]);
}
