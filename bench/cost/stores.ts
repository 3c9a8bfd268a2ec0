import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import pg from 'pg';
import { startPostgres } from '../../test/services/postgres.js';

/** An empty store, and what can be measured of it from outside. */
export interface CostStore {
  readonly name: string;
  readonly url: string;
  /** How many round trips to the server were made so far; null where there is no server. */
  calls(): Promise<number | null>;
  /** Bytes that are stored; null where that is not known. */
  bytes(): Promise<number | null>;
  stop(): Promise<void>;
}

export function memoryStore(): Promise<CostStore> {
  const nothing = () => Promise.resolve(null);
  return Promise.resolve({
    name: 'memory',
    url: 'memory:',
    calls: nothing,
    bytes: nothing,
    stop: () => Promise.resolve(),
  });
}

export function sqliteStore(): Promise<CostStore> {
  const folder = mkdtempSync(join(tmpdir(), 'card-payment-bench-'));
  const file = join(folder, 'payments.db');
  return Promise.resolve({
    name: 'SQLite',
    url: `sqlite:${file}`,
    calls: () => Promise.resolve(null),
    bytes: () => {
      const db = new Database(file);
      const pages = db.pragma('page_count', { simple: true }) as number;
      const free = db.pragma('freelist_count', { simple: true }) as number;
      const size = db.pragma('page_size', { simple: true }) as number;
      db.close();
      return Promise.resolve((pages - free) * size);
    },
    stop: () => Promise.resolve(rmSync(folder, { recursive: true })),
  });
}

export async function postgresStore(): Promise<CostStore> {
  const postgres = await startPostgres({ fsync: 'on', shared_preload_libraries: 'pg_stat_statements' });
  const url = await postgres.createDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('create extension pg_stat_statements');
  const ask = async (text: string) => Number((await client.query<{ sum: string }>(text)).rows[0]!.sum);
  return {
    name: 'PostgreSQL',
    url,
    calls: () => ask(`select sum(calls) from pg_stat_statements where query !~ 'pg_stat|pg_total_relation_size'`),
    bytes: () =>
      ask(`select sum(pg_total_relation_size(oid)) from pg_class where relkind = 'r' and relname ~ '^card_payment'`),
    stop: async () => {
      await client.end();
      await postgres.stop();
    },
  };
}
