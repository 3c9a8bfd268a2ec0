import { Kysely, PostgresDialect, type PostgresPool } from 'kysely';
import type { PaymentTables } from './payment-tables.js';
import { makePostgresPool, postgresEngine } from './postgres.engine.js';
import { SqlPaymentStore, type SqlStoreOptions } from './sql-payment-store.js';

/**
 * Where a PostgreSQL store keeps its payments: a database by its URL, or a `Pool` of `pg` of your own, which you end
 * yourself. Listen for `error` on such a pool and on its clients, as `pg` asks of everyone: otherwise a connection that
 * breaks ends the process.
 */
export type PostgresStoreOptions = SqlStoreOptions &
  ({ readonly connectionString: string; readonly maxConnections?: number } | { readonly pool: PostgresPool });

/**
 * Keeps payments in PostgreSQL: any number of machines. Needs `kysely` and `pg`.
 *
 * With a `connectionString`, `maxConnections` is 10 by default.
 */
export function postgresPaymentStore(options: PostgresStoreOptions): SqlPaymentStore {
  const isOwner = !('pool' in options);
  const pool = isOwner ? () => makePostgresPool(options.connectionString, options.maxConnections) : options.pool;
  const db = new Kysely<PaymentTables>({ dialect: new PostgresDialect({ pool }) });
  return new SqlPaymentStore(db, postgresEngine, options, isOwner);
}
