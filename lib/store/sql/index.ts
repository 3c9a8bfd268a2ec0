/**
 * The store in SQLite, PostgreSQL, MySQL or MariaDB, opened in code: with your own Kysely instance or pool.
 *
 * @packageDocumentation
 */

export type { SqlDialect } from './engines.js';
export { mysqlPaymentStore, type MysqlStoreOptions } from './engines/mysql/mysql-payment-store.js';
export { postgresPaymentStore, type PostgresStoreOptions } from './engines/postgres/postgres-payment-store.js';
export { sqlitePaymentStore, type SqliteStoreOptions } from './engines/sqlite/sqlite-payment-store.js';
export { openSqlStore } from './open-sql-store.js';
export { paymentSchema } from './payment-schema.js';
export type { PaymentTables } from './payment-tables.js';
export {
  type KyselyStoreOptions,
  SqlPaymentStore,
  sqlPaymentStore,
  type SqlStoreOptions,
} from './sql-payment-store.js';
