import { freePort } from '../test/services/server.js';
import { TaskProcess } from '../test/rigs/task-process.js';
import { type CostStore, memoryStore, postgresStore, sqliteStore } from './cost/stores.js';
import { forkScript } from './payments/run-subject.js';
import { printTable } from './table.js';

const WARM_UP = 1_000;
const PAYMENTS = 5_000;

interface Callback {
  readonly conversationId: string;
}

/** What one payment costs: CPU of the shop's process, round trips to the store, bytes stored. */
export async function benchCost(): Promise<void> {
  const rows: string[][] = [];
  for (const start of [memoryStore, sqliteStore, postgresStore]) {
    for (const kind of ['direct', '3D', '3D, one @OnPayment'] as const) {
      const store = await start();
      rows.push([store.name, kind, ...(await measure(store, kind))]);
      await store.stop();
    }
  }
  printTable(
    `A payment that succeeds, the mean of ${PAYMENTS}, 8 at once`,
    ['store', 'payment', 'CPU of the shop, ms', 'round trips to the store', 'bytes stored'],
    rows,
  );
}

async function measure(store: CostStore, kind: string): Promise<string[]> {
  const gateway = await forkScript('../processes/gateway.ts');
  const port = await freePort();
  const hasHandler = kind.includes('@OnPayment');
  const options = {
    baseUrl: await gateway.ask<string>('url'),
    publicUrl: `http://127.0.0.1:${port}`,
    storeUrl: store.url,
    background: hasHandler,
    dialect: 'morpos',
    merchantId: 'bench',
    clientId: 'bench',
    clientSecret: 'YmVuY2g=',
    apiKey: 'bench',
  };
  const shop = await TaskProcess.fork(new URL('processes/shop.mjs', import.meta.url), { options, port, hasHandler });
  const pay = async (count: number): Promise<void> => {
    if (kind === 'direct') return shop.ask('pay', count);
    await shop.ask('start', count);
    await shop.ask('complete', await gateway.ask<Callback[]>('returns'));
  };
  await pay(WARM_UP);
  const [cpu, calls, bytes] = [await shop.ask<number>('cpu'), await store.calls(), await store.bytes()];
  await pay(PAYMENTS);
  const each = (before: number | null, after: number | null, digits: number) =>
    before === null || after === null ? '' : ((after - before) / PAYMENTS).toFixed(digits);
  const figures = [
    each(cpu, await shop.ask<number>('cpu'), 2),
    each(calls, await store.calls(), 1),
    each(bytes, await store.bytes(), 0),
  ];
  await shop.end();
  await gateway.end();
  return figures;
}
