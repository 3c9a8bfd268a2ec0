/**
 * The store in SQLite, PostgreSQL, MySQL or MariaDB, opened in code: with your own Kysely instance or pool.
 *
 * @packageDocumentation
 */

import * as kysely from 'kysely';
import type { Kysely, MysqlPool, PostgresPool } from 'kysely';
import type { SqlAccess, SqlEngine } from './engine.js';
import { mariadbEngine, mysqlAccess, mysqlEngine, mysqlPoolAccess } from './engines/mysql.js';
import { postgresAccess, postgresEngine, postgresPoolAccess } from './engines/postgres.js';
import { sqliteAccess, sqliteEngine } from './engines/sqlite.js';
import { SqlPaymentStore, type SqlStoreOptions } from './sql-payment-store.js';
import type { PaymentTables } from './tables.js';

export type { SqlDialect } from './engines.js';
export { openSqlStore } from './open-sql-store.js';
export { paymentSchema } from './schema.js';
export { type KyselyStoreOptions, sqlPaymentStore } from './sql-payment-store.js';
export { SqlPaymentStore, type SqlStoreOptions };
export type { PaymentTables };

/** Where a SQLite store keeps its payments. */
export interface SqliteStoreOptions extends SqlStoreOptions {
  /**
   * The file, created if it does not exist; its folder must. Put it on a local disk. The processes of one machine can
   * share it.
   */
  readonly file: string;
}

/**
 * Keeps payments in a SQLite file, for one machine and any number of processes. Needs `kysely` and `better-sqlite3`.
 * The file is opened by `open`, in WAL mode, and written through to the disk before a payment goes on (`synchronous =
 * FULL`).
 */
export function sqlitePaymentStore({ file, ...options }: SqliteStoreOptions): SqlPaymentStore {
  return storeOf(sqliteEngine, sqliteAccess(kysely.SqliteDialect, file), options, true);
}

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
  if ('pool' in options) return storeOf(postgresEngine, postgresPoolAccess(kysely, options.pool), options, false);
  const access = postgresAccess(kysely, options.connectionString, options.maxConnections);
  return storeOf(postgresEngine, access, options, true);
}

/**
 * Where a MySQL or MariaDB store keeps its payments: a database by its URL, or a pool of `mysql2` of your own (that of
 * `mysql2`, not of `mysql2/promise`), which you end yourself. The sessions of a given pool are used as they are: they
 * need `autocommit`, a strict `sql_mode`, `utf8mb4` and, on a Galera cluster, `wsrep_sync_wait` = 7, which `open`
 * checks. Set `innodb_lock_wait_timeout` to 5 seconds on them, too.
 */
export type MysqlStoreOptions = SqlStoreOptions &
  ({ readonly connectionString: string; readonly maxConnections?: number } | { readonly pool: MysqlPool });

/**
 * Keeps payments in MySQL 8, or MariaDB 10.6 or later, for any number of machines. Needs `kysely` and `mysql2`. It
 * works on a Galera cluster.
 *
 * With a `connectionString`, such as `mysql://user:password@host:3306/database?ssl=true`, `maxConnections` is 10 by
 * default.
 *
 * @throws Error when the connection string is not one, or the pool is one of `mysql2/promise`
 */
export function mysqlPaymentStore(options: MysqlStoreOptions): SqlPaymentStore {
  if ('pool' in options) {
    // To TypeScript they are alike; it would wait for a callback that is never called.
    if ('pool' in options.pool) {
      throw new Error('this is a pool of mysql2/promise: give its property "pool", which is one of mysql2');
    }
    return storeOf(mysqlEngine, mysqlPoolAccess(kysely, options.pool), options, false);
  }
  const engine = mariadbEngine.owns(options.connectionString) ? mariadbEngine : mysqlEngine;
  return storeOf(engine, mysqlAccess(kysely, options.connectionString, options.maxConnections), options, true);
}

function storeOf(
  engine: SqlEngine,
  { dialect, hasLimitedSessions }: SqlAccess,
  { migrate = true, clock }: SqlStoreOptions,
  isOwner: boolean,
): SqlPaymentStore {
  const db: Kysely<PaymentTables> = new kysely.Kysely({ dialect });
  return new SqlPaymentStore(db, engine, { migrate, clock, hasLimitedSessions, isOwner });
}
