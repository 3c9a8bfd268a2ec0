import { freePort } from '../test/services/server.js';
import { TaskProcess } from '../test/rigs/task-process.js';
import { forkScript } from './payments/run-subject.js';
import { cpuOf, cpuOfMachine } from './processes/cpu.js';
import { type SharedStore, sharedPostgres } from './processes/shared-stores.js';
import { median, printTable } from './table.js';

const PROCESSES = [1, 2, 4, 8];
/** How many callbacks each process takes before the measurement, so that its code is compiled. */
const WARM_UP = 800;
const CALLBACKS = 1_600;
const AT_ONCE = 64;

interface Callback {
  readonly conversationId: string;
  readonly path: string;
}

/** Measures the 3D callback with one to eight processes of a shop on one store, and the CPU of each participant. */
export async function benchProcesses(): Promise<void> {
  for (const start of [sharedPostgres]) {
    const store = await start();
    const rows: string[][] = [];
    for (const hasHandler of [false, true]) {
      for (const processes of PROCESSES) rows.push(await measure(store, processes, hasHandler));
    }
    await store.stop();
    printTable(
      `Callbacks on ${store.name}, ${AT_ONCE} at once; CPU in ms per callback`,
      [
        'processes',
        '@OnPayment',
        'callbacks a second',
        'median ms',
        'p99 ms',
        'CPU of the shop',
        'of the database',
        'of the gateway',
        'of the buyers',
        'machine busy',
      ],
      rows,
    );
  }
}

async function measure(store: SharedStore, processes: number, hasHandler: boolean): Promise<string[]> {
  const gateway = await forkScript('../processes/gateway.ts');
  const buyers = await TaskProcess.fork(scriptOf('buyers'), null);
  const options = {
    baseUrl: await gateway.ask<string>('url'),
    storeUrl: await store.create(),
    dialect: 'morpos',
    merchantId: 'bench',
    clientId: 'bench',
    clientSecret: 'YmVuY2g=',
    apiKey: 'bench',
    successUrl: 'https://shop.example/paid',
    failureUrl: 'https://shop.example/failed',
    pendingUrl: 'https://shop.example/pending',
  };
  const ports = await Promise.all(Array.from({ length: processes }, () => freePort()));
  const shops = await Promise.all(
    ports.map((port) => {
      const setup = { options: { ...options, publicUrl: urlOf(port) }, port, hasHandler };
      return TaskProcess.fork(scriptOf('shop'), setup);
    }),
  );

  /** @returns how long each callback took */
  const run = async (wanted: number, began: () => void): Promise<number[]> => {
    await Promise.all(shops.map((shop) => shop.ask('start', wanted / processes)));
    const callbacks = await gateway.ask<Callback[]>('returns');
    began();
    const took = await buyers.ask<number[]>('bring', { callbacks, shops: ports.map(urlOf), atOnce: AT_ONCE });
    const ids = callbacks.map(({ conversationId }) => conversationId);
    const times = await gateway.ask<number[]>('authorized', ids);
    if (ids.length !== wanted || times.join() !== '1') throw new Error(`authorized ${times.join(' or ')} times`);
    return took;
  };
  await run(WARM_UP * processes, () => undefined);

  const cpu = () => [
    shops.reduce((sum, shop) => sum + cpuOf(shop.pid), 0),
    store.cpuMs(),
    cpuOf(gateway.pid),
    cpuOf(buyers.pid),
  ];
  let [before, machine, began] = [cpu(), cpuOfMachine(), 0];
  const took = await run(CALLBACKS, () => {
    [before, machine, began] = [cpu(), cpuOfMachine(), performance.now()];
  });
  const seconds = (performance.now() - began) / 1000;
  const used = cpu().map((ms, i) => (ms - before[i]!) / CALLBACKS);
  const { busyMs, allMs } = cpuOfMachine();
  for (const process of [...shops, buyers, gateway]) await process.end();
  return [
    `${processes}`,
    hasHandler ? 'one' : 'none',
    `${Math.round(CALLBACKS / seconds)}`,
    median(took).toFixed(0),
    took.sort((one, other) => one - other)[Math.floor(took.length * 0.99)]!.toFixed(0),
    ...used.map((ms) => ms.toFixed(2)),
    `${Math.round((100 * (busyMs - machine.busyMs)) / (allMs - machine.allMs))} %`,
  ];
}

function scriptOf(name: string): URL {
  return new URL(`processes/${name}.mjs`, import.meta.url);
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}
