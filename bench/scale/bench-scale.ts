import type { PaymentService } from 'nestjs-card-payment';
import { latencyOf } from '../payments/figures.js';
import { type MerchantApp, startMerchantApp } from '../payments/merchant-app.js';
import { repeat } from '../payments/repeat.js';
import { forkScript } from '../payments/run-subject.js';
import { bankFields, saleOf } from '../payments/sale.js';
import { printTable } from '../table.js';
import { type ScaleConnection, type ScaleOptions, type ScaleServer, startServer } from './databases.js';
import { copyOf, copyPayments, SPREAD_MS } from './fill.js';

const FEW = 10_000;
/** Payments that the package itself makes, of which all others are copies. */
const MADE = 100;
const MADE_3D = 70;
const CALLS = 200;

interface Task {
  readonly name: string;
  readonly call: (number: number) => Promise<unknown>;
  /** Default: {@link CALLS}. */
  readonly calls?: number;
}

/** What one size of the database showed. */
interface Figures {
  readonly stored: number;
  readonly bytes: number;
  readonly tasks: readonly { readonly name: string; readonly ms: string; readonly reads: number }[];
  readonly purge: { readonly payments: number; readonly seconds: number; readonly beside: string };
}

/** What a payment costs on a database with many stored ones, beside one with few. */
export async function benchScale(options: ScaleOptions): Promise<void> {
  const server = await startServer(options);
  const gateway = await forkScript('gateway-process.ts');
  const setup = { gatewayUrl: await gateway.ask<string>('url'), packageFolder: process.cwd() };
  const figures: Figures[] = [];
  try {
    for (const stored of [FEW, options.stored]) {
      const storeUrl = await server.create();
      figures.push(await measure(server, { ...setup, storeUrl }, { ...options, stored }));
      print(server.unit, figures);
    }
  } finally {
    await gateway.end();
    await server.stop();
  }
}

async function measure(
  server: ScaleServer,
  setup: Parameters<typeof startMerchantApp>[0],
  { stored, partitioned }: ScaleOptions,
): Promise<Figures> {
  // Work in the background would be counted for what is measured beside it.
  const start = (options = {}) =>
    startMerchantApp(setup, { handler: true, options: { background: false, ...options } });
  const app = await start();
  const database = server.connect(setup.storeUrl);
  const ids = await makePayments(app);
  const began = performance.now();
  await copyPayments(database, Math.ceil(stored / MADE), { partitioned });
  await database.run(server.unit === 'rows' ? 'analyze table card_payment, card_payment_version' : 'analyze');
  console.log(`${stored} payments filled in ${((performance.now() - began) / 1000).toFixed(0)} s`);

  const bytes = (await database.bytes()) / stored;
  const tasks = [];
  for (const task of tasksOf(app.payments, (number) => copyOf(ids[number % MADE]!, 1 + (number % (stored / MADE))))) {
    tasks.push(await timed(task, database));
  }
  const purging = await start({ retentionMs: Math.floor(SPREAD_MS * 0.9) });
  const purge = await measurePurge(purging, app);
  await purging.close();
  await app.close();
  await database.end();
  return { stored, bytes, tasks, purge };
}

/** @returns the ids of payments that have succeeded, and whose events are delivered */
async function makePayments({ payments, handled }: MerchantApp): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 0; number < MADE; number += 1) {
    const sale = saleOf(-1 - number);
    if (number >= MADE_3D) {
      ids.push((await payments.doPayment({ ...sale, idempotencyKey: `made-${number}` })).conversationId);
    } else {
      const { conversationId } = await payments.init3d(sale);
      await payments.auth3d({ conversationId, fields: bankFields(conversationId) });
      ids.push(conversationId);
    }
  }
  await payments.reconcile();
  await handled(MADE);
  return ids;
}

/** What buyers, operators and the background ask of the module, one after the other. */
function tasksOf(payments: PaymentService, copy: (number: number) => ReturnType<typeof copyOf>): Task[] {
  const opened: string[] = [];
  const keyed = (number: number) => ({ ...saleOf(1_000_000 + number), idempotencyKey: `checkout-${number}` });
  const find = async (number: number) => {
    if (!(await payments.find(copy(number).conversationId))) throw new Error('a copied payment was not found');
  };
  return [
    { name: 'find', call: find },
    { name: 'findByReference', call: (number) => payments.findByReference(copy(number).reference) },
    { name: 'doPayment', call: (number) => payments.doPayment(keyed(number)) },
    { name: 'doPayment, repeated', call: (number) => payments.doPayment(keyed(number)) },
    { name: 'init3d', call: async (number) => opened.push((await payments.init3d(saleOf(number))).conversationId) },
    {
      name: 'auth3d',
      call: (number) => payments.auth3d({ conversationId: opened[number]!, fields: bankFields(opened[number]!) }),
    },
    { name: `reconcile, ${2 * CALLS} events`, calls: 1, call: () => payments.reconcile() },
    { name: 'reconcile, nothing due', calls: 20, call: () => payments.reconcile() },
  ];
}

async function timed({ name, call, calls = CALLS }: Task, database: ScaleConnection) {
  const before = await database.reads();
  const took = await repeat(call, { from: 0, count: calls, atOnce: 1 });
  return { name, ms: milliseconds(took), reads: ((await database.reads()) - before) / calls };
}

/** The oldest tenth is deleted, and payments are made beside it. */
async function measurePurge(purging: MerchantApp, { payments }: MerchantApp): Promise<Figures['purge']> {
  const began = performance.now();
  let [purged, isOver] = [0, false];
  const over = (async () => {
    for (let last = -1; last !== 0; purged += last) last = (await purging.payments.reconcile()).purged;
    isOver = true;
  })();
  const took: number[] = [];
  for (let number = 2_000_000; !isOver; number += 1) {
    const start = performance.now();
    await payments.doPayment(saleOf(number));
    took.push((performance.now() - start) * 1000);
  }
  await over;
  const seconds = (performance.now() - began) / 1000;
  return { payments: purged, seconds, beside: milliseconds(Float64Array.from(took)) };
}

function milliseconds(micros: Float64Array): string {
  const { median, p99 } = latencyOf(micros);
  return [median, p99].map((value) => (value / 1000).toFixed(1)).join(' / ');
}

function print(unit: string | null, figures: readonly Figures[]): void {
  const by = (what: string) => figures.map(({ stored }) => `${what} at ${stored}`);
  printTable(
    `Median / p99 in ms${unit === null ? '' : `, ${unit} read per call`}`,
    ['', ...by('ms'), ...(unit === null ? [] : by('reads'))],
    figures[0]!.tasks.map(({ name }, index) => [
      name,
      ...figures.map(({ tasks }) => tasks[index]!.ms),
      ...(unit === null ? [] : figures.map(({ tasks }) => tasks[index]!.reads.toFixed(1))),
    ]),
  );
  printTable(
    'Bytes a payment, and a purge of the oldest tenth with payments made beside it',
    ['stored', 'bytes each', 'purged', 'a second', 'doPayment beside, ms'],
    figures.map(({ stored, bytes, purge: { payments, seconds, beside } }) => [
      ...[stored, bytes.toFixed(0), payments, (payments / seconds).toFixed(0), beside],
    ]),
  );
}
