import { Kysely, PostgresDialect, type PostgresPool } from 'kysely';
import type { PaymentTables } from '../../payment-tables.js';
import { SqlPaymentStore, type SqlStoreOptions } from '../../sql-payment-store.js';
import { BoundedPool, postgresAccess } from './postgres-pool.js';
import { postgresEngine } from './postgres.engine.js';

/**
 * Where a PostgreSQL store keeps its payments: a database by its URL, or a `Pool` of `pg` of your own, which you end
 * yourself. `pg` requires you to listen for `error` on your pool: otherwise an idle connection that breaks ends the
 * process. Give it a `connectionTimeoutMillis` and `keepAlive`, too.
 */
export type PostgresStoreOptions = SqlStoreOptions &
  ({ readonly connectionString: string; readonly maxConnections?: number } | { readonly pool: PostgresPool });

/**
 * Keeps payments in PostgreSQL, for any number of machines. Needs `kysely` and `pg`. It works behind PgBouncer, in
 * transaction mode as well.
 *
 * With a `connectionString`, `maxConnections` is 10 by default.
 */
export function postgresPaymentStore(options: PostgresStoreOptions): SqlPaymentStore {
  const { migrate = true, clock } = options;
  if ('pool' in options) {
    const db = new Kysely<PaymentTables>({ dialect: new PostgresDialect({ pool: new BoundedPool(options.pool) }) });
    return new SqlPaymentStore(db, postgresEngine, { migrate, clock });
  }
  const { dialect, ...access } = postgresAccess(PostgresDialect, options.connectionString, options.maxConnections);
  return new SqlPaymentStore(new Kysely<PaymentTables>({ dialect }), postgresEngine, {
    ...access,
    migrate,
    clock,
    isOwner: true,
  });
}
