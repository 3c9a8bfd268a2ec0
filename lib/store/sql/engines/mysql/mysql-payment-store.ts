import { Kysely, MysqlDialect, type MysqlPool } from 'kysely';
import type { PaymentTables } from '../../payment-tables.js';
import { SqlPaymentStore, type SqlStoreOptions } from '../../sql-payment-store.js';
import { mariadbEngine, mysqlEngine } from './mysql.engine.js';
import { askPlainly, BoundedMysqlPool, mysqlAccess } from './mysql-pool.js';

/**
 * Where a MySQL or MariaDB store keeps its payments: a database by its URL, or a pool of `mysql2` of your own (that of
 * `mysql2`, not of `mysql2/promise`), which you end yourself. The sessions of a given pool are used as they are: they
 * need `autocommit`, a strict `sql_mode`, `utf8mb4` and, on a Galera cluster, `wsrep_sync_wait` = 7, which `open` checks.
 * Set `innodb_lock_wait_timeout` to 5 seconds on them, too.
 */
export type MysqlStoreOptions = SqlStoreOptions &
  ({ readonly connectionString: string; readonly maxConnections?: number } | { readonly pool: MysqlPool });

/**
 * Keeps payments in MySQL 8, or MariaDB 10.6 or later, for any number of machines. Needs `kysely` and `mysql2`. It works
 * on a Galera cluster.
 *
 * With a `connectionString`, such as `mysql://user:password@host:3306/database?ssl=true`, `maxConnections` is 10 by
 * default.
 *
 * @throws Error when the connection string is not one, or the pool is one of `mysql2/promise`
 */
export function mysqlPaymentStore(options: MysqlStoreOptions): SqlPaymentStore {
  const { migrate = true, clock } = options;
  if ('pool' in options) {
    // To TypeScript they are alike; it would wait for a callback that is never called.
    if ('pool' in options.pool) {
      throw new Error('this is a pool of mysql2/promise: give its property "pool", which is one of mysql2');
    }
    const db = new Kysely<PaymentTables>({
      dialect: new MysqlDialect({ pool: new BoundedMysqlPool(options.pool, { ask: askPlainly }) }),
    });
    return new SqlPaymentStore(db, mysqlEngine, { migrate, clock });
  }
  const engine = mariadbEngine.owns(options.connectionString) ? mariadbEngine : mysqlEngine;
  const { dialect, ...access } = mysqlAccess(MysqlDialect, options.connectionString, options.maxConnections);
  return new SqlPaymentStore(new Kysely<PaymentTables>({ dialect }), engine, {
    ...access,
    migrate,
    clock,
    isOwner: true,
  });
}
