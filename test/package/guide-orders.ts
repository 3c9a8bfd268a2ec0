import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import { type Postgres, queryPostgres } from '../services/postgres.js';
import { settingFiles } from './guide.js';
import type { MerchantApp } from './merchant-app.js';
import { SHOP_OF_ORDERS } from './orders-shop.js';

const PAGE = 'docs/orders.md';

/** The expected output of `pay-orders.mjs`. */
const PAID_ONCE = {
  state: 'succeeded',
  charged: '149.90',
  stock: 9,
  afterRepeats: 9,
  afterFiveAtOnce: 8,
  afterOtherAccount: 7,
  receipts: { first: true, repeated: false, afterAnotherHandler: true },
  withoutOrder: 'failed',
  afterFailure: 0,
  handled: ['default orders.paid', 'default orders.receipt', 'second orders.paid'],
  isPaid: true,
  afterRestart: 'succeeded',
};

/** The tables that Prisma's migrations would create from the schema in the page. */
const PRISMA_TABLES = `
  create table products (id text primary key, stock integer not null);
  create table orders (id text primary key, total decimal(15, 2) not null, "paidBy" text,
    "receiptDue" boolean not null default false, "productId" text not null references products (id));
  create table handled_events (account text, handler text, "eventId" text, primary key (account, handler, "eventId"));
`;

/** Writes what the page leaves to its reader beside the files of the page. */
export function writeShopOfOrders(folder: string): void {
  for (const [path, text] of Object.entries(SHOP_OF_ORDERS)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** Generates the Prisma client that the code of the page imports, without the schema engine, which may fail to download. */
export async function generatePrismaClient(app: MerchantApp, folder: string): Promise<void> {
  const prisma = join(app.folder, 'node_modules/prisma/build/index.js');
  const env = { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' };
  const { status, stderr } = await app.run(
    'sh',
    ['-c', `cd '${folder}' && '${process.execPath}' '${prisma}' generate`],
    env,
  );
  if (status !== 0) throw new Error(`prisma generate failed: ${stderr}`);
}

const DROP_SCHEMA = `
  const { DataSource } = require('typeorm');
  const database = new DataSource({ type: 'postgres', url: process.env.DATABASE_URL, dropSchema: true });
  database.initialize().then(() => database.destroy());
`;

export interface OrdersSetup {
  readonly orm: 'typeorm' | 'prisma';
  /** The schema of the payments: that of the page, or that of the orders. */
  readonly schema: 'payments' | 'public';
  readonly node: string;
}

/** Sets up a database as the page describes, and pays an order in its application. */
export async function payOrders(app: MerchantApp, postgres: Postgres, setup: OrdersSetup): Promise<void> {
  const { orm, schema, node } = setup;
  const page = readFileSync(PAGE, 'utf8');
  const superuser = await postgres.createDatabase();
  const database = new URL(superuser).pathname.slice(1);
  await query(superuser, 'create role shop login');
  await query(superuser, `alter database ${database} owner to shop`);
  for (const statement of (/^```sql\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? '').split(';')) {
    await query(superuser, statement);
  }
  const { host } = new URL(superuser);
  const settings = settingFiles(PAGE).get('.env') ?? '';
  const env = parseEnv(settings.replaceAll('127.0.0.1:5432/shop', `${host}/${database}`)) as Record<string, string>;
  if (schema === 'public') env['PAYMENT_STORE_URL'] = env['DATABASE_URL'] ?? '';
  if (orm === 'prisma') await query(env['DATABASE_URL'] ?? '', PRISMA_TABLES);

  copyFileSync('test/package/pay-orders.mjs', join(app.folder, 'pay-orders.mjs'));
  const args = ['pay-orders.mjs', `built/guide/orders/src/${orm}`];
  const { stdout, stderr } = await app.run(node, args, { ...env, PAYMENT_BASE_URL: 'simulator:' });
  expect({ printed: stdout === '' ? stderr : (JSON.parse(stdout) as unknown) }).toEqual({ printed: PAID_ONCE });

  expect((await tablesIn(superuser)).filter((name) => !name.startsWith(`${schema}.card_payment`))).toEqual([
    'public.handled_events',
    'public.orders',
    'public.products',
  ]);
  if (schema === 'public') return;
  const count = 'select from payments.card_payment';
  await expect(query(env['DATABASE_URL'] ?? '', count)).rejects.toThrow('permission denied');
  if (orm === 'prisma') return;
  const { stderr: dropErrors } = await app.run(node, ['--input-type=commonjs', '-e', DROP_SCHEMA], env);
  expect(dropErrors).toBe('');
  expect((await tablesIn(superuser)).filter((name) => name.startsWith('public.'))).toEqual([]);
  expect(await query(superuser, count)).toHaveLength(1);
}

async function tablesIn(url: string): Promise<string[]> {
  const sql = `select schemaname || '.' || tablename as name from pg_tables where schemaname in ('public', 'payments')`;
  return (await query(url, sql)).map(({ name }) => String(name)).sort();
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  return queryPostgres(url, sql).catch((error: { readonly code?: unknown }) => {
    // The role already exists, since roles belong to the server and not to a database.
    if (error.code === '42710') return [];
    throw error;
  });
}
