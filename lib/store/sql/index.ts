/**
 * The store in SQLite, PostgreSQL, MySQL or MariaDB, opened in code: with your own Kysely instance or pool.
 *
 * @packageDocumentation
 */

export type { SqlDialect } from './engines.js';
export { openSqlStore } from './open-sql-store.js';
export { paymentSchema } from './schema.js';
export {
  type KyselyStoreOptions,
  SqlPaymentStore,
  sqlPaymentStore,
  type SqlStoreOptions,
} from './sql-payment-store.js';
export {
  mysqlPaymentStore,
  type MysqlStoreOptions,
  postgresPaymentStore,
  type PostgresStoreOptions,
  sqlitePaymentStore,
  type SqliteStoreOptions,
} from './stores.js';
export type { PaymentTables } from './tables.js';
