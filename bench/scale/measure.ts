import { OnPayment } from 'nestjs-card-payment';
import { startMerchant } from '../merchant.js';
import { announce, insertUnderWay, operations } from './operations.js';
import { measurePurge, type PurgeFigures } from './purge.js';
import type { ReadsByName, ScaleServer } from './scale-server.js';

const TIMED_CALLS = 300;
const EXPLAINED_CALLS = 50;
const IDLE_PASSES = 20;

export interface OperationFigures {
  readonly ms: readonly number[];
  /** What a call reads, by index and table, as its server counts it. */
  readonly reads: ReadsByName;
  /** Indexes that its statements search; tables that they read as a whole, with a `!`. */
  readonly searched: readonly string[];
}

/** What a database of one size showed. */
export interface ScaleFigures {
  readonly operations: ReadonlyMap<string, OperationFigures>;
  readonly sizes: ReadonlyMap<string, number>;
  readonly purge: PurgeFigures;
}

export async function measure(server: ScaleServer, url: string, stored: number): Promise<ScaleFigures> {
  const watched = await server.watch(url);
  const bytes = await watched.sizes();
  await announce(watched.store);
  await insertUnderWay(watched.store);
  await watched.analyze();

  const reads = new Map<string, ReadsByName>();
  const searched = new Map<string, readonly string[]>();
  await watched.searched();
  for (const { name, calls } of operations(watched.store, stored, EXPLAINED_CALLS, 0)) {
    const before = await watched.reads();
    for (const call of calls) await call();
    const after = await watched.reads();
    const perCall = [...after].map(([relation, sum]): [string, number] => [
      relation,
      (sum - (before.get(relation) ?? 0)) / calls.length,
    ]);
    reads.set(name, new Map(perCall.filter(([, count]) => count > 0)));
    searched.set(name, await watched.searched());
  }
  await watched.end();

  const store = server.storeOf(url, 1);
  await store.open();
  const figures = new Map<string, OperationFigures>();
  for (const { name, calls } of operations(store, stored, TIMED_CALLS, 1)) {
    const ms = await timed(calls);
    figures.set(name, { ms, reads: reads.get(name)!, searched: searched.get(name)! });
  }
  await store.close();
  for (const [name, ms] of await reconcilePasses(url)) {
    figures.set(name, { ms, reads: new Map(), searched: [] });
  }
  return { operations: figures, sizes: bytes, purge: await measurePurge(server, url) };
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
