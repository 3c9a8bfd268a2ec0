import { Kysely, SqliteDialect, type SqliteDatabase, type SqliteStatement } from 'kysely';
import { importDriver } from './import-driver.js';
import type { PaymentTables } from './payment-tables.js';
import { whenFree } from './sql-connection.js';
import { SqlPaymentStore, type SqlStoreOptions } from './sql-payment-store.js';

/** Where a SQLite store keeps its payments. */
export interface SqliteStoreOptions extends SqlStoreOptions {
  /** The file, made where it does not exist; its folder must. On a local disk, shared by the processes of one machine. */
  readonly file: string;
}

/**
 * Keeps payments in a SQLite file: one machine, any number of processes. Needs `kysely` and `better-sqlite3`. The file is opened by
 * `open`: in WAL mode, and written through to the disk before a payment goes on (`synchronous = FULL`).
 */
export function sqlitePaymentStore({ file, ...options }: SqliteStoreOptions): SqlPaymentStore {
  const dialect = new SqliteDialect({ database: () => openFile(file) });
  return new SqlPaymentStore(new Kysely<PaymentTables>({ dialect }), 'sqlite', options, true);
}

async function openFile(file: string): Promise<SqliteDatabase> {
  const { default: Database } = await importDriver('kysely better-sqlite3', () => import('better-sqlite3'));
  // Who has to wait for another process sleeps meanwhile: SQLite's own waiting would stop this one.
  const database = new Database(file, { timeout: 0 });
  try {
    // The mode is the file's, and whoever changes it must be alone for a moment.
    await whenFree(() => Promise.resolve().then(() => database.pragma('journal_mode = WAL')));
    database.pragma('synchronous = FULL');
  } catch (error) {
    database.close();
    throw error;
  }
  return withKeptStatements(database);
}

const MAX_STATEMENTS = 200;

/** Kysely prepares a statement each time it is run: a third of what a claim takes where the disk is quick. */
function withKeptStatements(database: SqliteDatabase): SqliteDatabase {
  const kept = new Map<string, SqliteStatement>();
  return {
    close: () => database.close(),
    prepare: (text) => {
      const statement = kept.get(text) ?? database.prepare(text);
      if (kept.size === MAX_STATEMENTS) kept.clear();
      kept.set(text, statement);
      return statement;
    },
  };
}
