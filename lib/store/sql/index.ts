export type { SqlDialect } from './engines.js';
export { type KyselyStoreOptions, sqlPaymentStore } from './kysely-payment-store.js';
export { openSqlStore } from './open-sql-store.js';
export { paymentSchema } from './payment-schema.js';
export type { PaymentTables } from './payment-tables.js';
export { postgresPaymentStore, type PostgresStoreOptions } from './postgres-payment-store.js';
export { SqlPaymentStore, type SqlStoreOptions } from './sql-payment-store.js';
export { sqlitePaymentStore, type SqliteStoreOptions } from './sqlite-payment-store.js';
