import { readFileSync } from 'node:fs';
import pg from 'pg';
import { postgresPaymentStore } from 'nestjs-card-payment/sql';
import { startPostgres } from '../test/services/postgres.js';
import { fill } from './scale/fill.js';
import { measure, type ScaleFigures } from './scale/measure.js';
import { shown } from './scale/purge.js';
import type { ScaleOptions } from './scale/scale-options.js';
import { printTable } from './table.js';

const SIZES = [10_000, 1_000_000, 10_000_000];
const DEFAULT_PAYMENTS = 1_000_000;

/** Durable, as in production, with room for filling the tables quickly. */
const SETTINGS = {
  fsync: 'on',
  shared_buffers: '1GB',
  max_wal_size: '4GB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  autovacuum: 'off',
};

/**
 * What each operation of the store costs on PostgreSQL, by the number of stored payments: `--payments 10000000`. With
 * `--partitioned` the tables are those of docs/partitioned-postgres.sql.
 */
export async function benchScale({ stored: most = DEFAULT_PAYMENTS, partitioned }: ScaleOptions): Promise<void> {
  const counts = [...SIZES.filter((size) => size < most), most];
  const postgres = await startPostgres(SETTINGS);
  const figures: ScaleFigures[] = [];
  for (const stored of counts) {
    const url = await postgres.createDatabase();
    if (partitioned) await run(url, readFileSync('docs/partitioned-postgres.sql', 'utf8'));
    const store = postgresPaymentStore({ connectionString: url });
    await store.open();
    await store.close();
    const began = performance.now();
    await fill(url, stored);
    console.log(`${stored} payments filled in ${((performance.now() - began) / 1000).toFixed(0)} s`);
    figures.push(await measure(url, stored));
    await run(postgres.url, `drop database ${new URL(url).pathname.slice(1)}`);
    print(counts.slice(0, figures.length), figures);
  }
  await postgres.stop();
}

async function run(url: string, statements: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statements);
  await client.end();
}

function print(counts: readonly number[], figures: readonly ScaleFigures[]): void {
  const last = figures.at(-1)!;
  const by = (what: string) => counts.map((count) => `${what} at ${count}`);
  const names = [...last.operations.keys()];
  printTable(
    'Operations: median / p99 in ms, pages of 8 KiB per call',
    ['operation', ...by('ms'), ...by('pages'), 'reads by'],
    names.map((name) => {
      const of = figures.map((one) => one.operations.get(name)!);
      const pages = of.map((one) => [...one.pages.values()].reduce((sum, count) => sum + count, 0));
      const searched = of.at(-1)!.searched.map((index) => index.replace('card_payment', '…'));
      return [name, ...of.map((one) => shown(one.ms)), ...pages.map((sum) => sum.toFixed(1)), searched.join(' ')];
    }),
  );
  printTable(
    'Index by index: pages of the index per call',
    ['index', 'serves', `MB at ${counts.at(-1)}`, ...by('pages')],
    [...last.sizes.keys()].sort().flatMap((index) =>
      names
        .filter((name) => last.operations.get(name)!.searched.includes(index))
        .map((name) => {
          const pages = figures.map((one) => (one.operations.get(name)!.pages.get(index) ?? 0).toFixed(1));
          return [index, name, megabytes(last.sizes.get(index)!), ...pages];
        }),
    ),
  );
  printTable(
    'Bytes stored a payment',
    ['table or index', ...by('bytes')],
    [...last.sizes.keys()]
      .sort()
      .map((name) => [name, ...figures.map((one, i) => ((one.sizes.get(name) ?? 0) / counts[i]!).toFixed(0))]),
  );
  printTable(
    'A purge of a tenth, with payments made beside it: median / p99 in ms',
    ['stored', 'purged', 'seconds', 'a second', 'transaction', 'longest', 'claim beside', 'event to delivery beside'],
    figures.map(({ purge }, i) => [
      counts[i]!,
      purge.payments,
      purge.seconds.toFixed(1),
      Math.round(purge.payments / purge.seconds),
      shown(purge.batchMs),
      Math.max(...purge.batchMs).toFixed(0),
      shown(purge.claimMs),
      shown(purge.deliveryMs),
    ]),
  );
}

function megabytes(bytes: number): string {
  return (bytes / 1_048_576).toFixed(1);
}
