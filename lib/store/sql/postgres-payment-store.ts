import { Kysely, PostgresDialect, type PostgresPool } from 'kysely';
import { importDriver } from './import-driver.js';
import type { PaymentTables } from './payment-tables.js';
import { SqlPaymentStore, type SqlStoreOptions } from './sql-payment-store.js';

/**
 * Where a PostgreSQL store keeps its payments: a database by its URL, or a `Pool` of `pg` that you have, and that stays yours to end. Listen
 * for `error` on such a pool and on its clients, as `pg` asks of everyone: a connection that breaks ends the process otherwise.
 */
export type PostgresStoreOptions = SqlStoreOptions &
  ({ readonly connectionString: string; readonly maxConnections?: number } | { readonly pool: PostgresPool });

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Keeps payments in PostgreSQL: any number of machines. Needs `kysely` and `pg`.
 *
 * A URL's `maxConnections` is 10 where not given.
 */
export function postgresPaymentStore(options: PostgresStoreOptions): SqlPaymentStore {
  const isOwner = !('pool' in options);
  const pool = isOwner ? () => makePool(options.connectionString, options.maxConnections) : options.pool;
  return new SqlPaymentStore(
    new Kysely<PaymentTables>({ dialect: new PostgresDialect({ pool }) }),
    'postgres',
    options,
    isOwner,
  );
}

async function makePool(connectionString: string, max = 10): Promise<PostgresPool> {
  const { default: pg } = await importDriver('kysely pg', () => import('pg'));
  const pool = new pg.Pool({ connectionString, max, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, keepAlive: true });
  // A connection that breaks fails what runs on it, and is replaced; without listeners it would end the process besides.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
