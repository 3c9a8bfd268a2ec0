import { mariadbScale } from './scale/mariadb-scale.js';
import { measure, type ScaleFigures } from './scale/measure.js';
import { postgresScale } from './scale/postgres-scale.js';
import { shown } from './scale/purge.js';
import type { ScaleOptions } from './scale/scale-options.js';
import { printTable } from './table.js';

const SIZES = [10_000, 1_000_000, 10_000_000];
const DEFAULT_PAYMENTS = 1_000_000;

/**
 * What each operation of the store costs on PostgreSQL or MariaDB, by the number of stored payments: `--payments
 * 10000000`. With `--partitioned` PostgreSQL's tables are those of docs/partitioned-postgres.sql.
 */
export async function benchScale({
  database,
  stored: most = DEFAULT_PAYMENTS,
  partitioned,
}: ScaleOptions): Promise<void> {
  const counts = [...SIZES.filter((size) => size < most), most];
  const server = database === 'mariadb' ? await mariadbScale() : await postgresScale(partitioned);
  const figures: ScaleFigures[] = [];
  try {
    for (const stored of counts) {
      const url = await server.create();
      const began = performance.now();
      await server.fill(url, stored);
      console.log(`${stored} payments filled in ${((performance.now() - began) / 1000).toFixed(0)} s`);
      figures.push(await measure(server, url, stored));
      await server.drop(url);
      print(server.unit, counts.slice(0, figures.length), figures);
    }
  } finally {
    await server.stop();
  }
}

function print(unit: string, counts: readonly number[], figures: readonly ScaleFigures[]): void {
  const last = figures.at(-1)!;
  const by = (what: string) => counts.map((count) => `${what} at ${count}`);
  const names = [...last.operations.keys()];
  printTable(
    `Operations: median / p99 in ms, ${unit} per call`,
    ['operation', ...by('ms'), ...by('reads'), 'reads by'],
    names.map((name) => {
      const of = figures.map((one) => one.operations.get(name)!);
      const reads = of.map((one) => [...one.reads.values()].reduce((sum, count) => sum + count, 0));
      const searched = of.at(-1)!.searched.map((index) => index.replace('card_payment', '…'));
      return [name, ...of.map((one) => shown(one.ms)), ...reads.map((sum) => sum.toFixed(1)), searched.join(' ')];
    }),
  );
  printTable(
    `Index by index: ${unit} of the index per call`,
    ['index', 'serves', `MB at ${counts.at(-1)}`, ...by('reads')],
    [...last.sizes.keys()].sort().flatMap((index) =>
      names
        .filter((name) => last.operations.get(name)!.searched.includes(index))
        .map((name) => {
          const reads = figures.map((one) => (one.operations.get(name)!.reads.get(index) ?? 0).toFixed(1));
          return [index, name, megabytes(last.sizes.get(index)!), ...reads];
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
