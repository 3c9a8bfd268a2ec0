import { Kysely, SqliteDialect } from 'kysely';
import type { PaymentTables } from '../../payment-tables.js';
import { SqlPaymentStore, type SqlStoreOptions } from '../../sql-payment-store.js';
import { openSqliteFile, sqliteAccess, sqliteEngine } from './sqlite.engine.js';

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
  const { dialect, ...access } = sqliteAccess(SqliteDialect, () => openSqliteFile(file));
  const db = new Kysely<PaymentTables>({ dialect });
  return new SqlPaymentStore(db, sqliteEngine, { ...options, ...access, isOwner: true });
}
