import { existsSync } from 'node:fs';
import type { SqliteDatabase, SqliteStatement } from 'kysely';
import { codeOf, importDriver, MissingDatabaseError } from './driver-errors.js';
import { retryWhileBusy } from './retry-while-busy.js';
import type { SqlEngine } from './sql-engine.js';

const SQLITE_PACKAGES = 'kysely better-sqlite3';
const MAX_STATEMENTS = 200;

/** SQLite by better-sqlite3: one file, one writing transaction at a time over all processes. */
export const sqliteEngine = {
  name: 'sqlite',
  displayName: 'the SQLite file',

  urlForm: 'sqlite:FILE',
  owns: (url) => url.startsWith('sqlite:'),
  async open(url, { mustExist = false } = {}) {
    const file = url.slice('sqlite:'.length).replace(/^\/\//, '');
    if (file === '') throw new Error('sqlite: needs a file: sqlite:payments.db');
    const { SqliteDialect } = await importDriver(SQLITE_PACKAGES, () => import('kysely'));
    const dialect = new SqliteDialect({ database: () => openSqliteFile(file, mustExist) });
    return { dialect, hasLimitedSessions: () => true };
  },

  schema: {
    keyType: 'text',
    jsonType: 'text',
    compactTable: ' without rowid',
    indexOf: (condition) => ` where ${condition}`,
    now: 'unixepoch() * 1000',
  },
  time: null,
  hasTable: (table) => ({ sql: 'select name from sqlite_master where name = ?', parameters: [table] }),
  migrationLock: { take: [], release: [] },

  // Takes the right to write now: a transaction that has read already may be refused it.
  begin: [{ sql: 'begin immediate' }],
  limits: [],
  isBusy: (error) => codeOf(error).startsWith('SQLITE_BUSY'),
  rowLock: () => '',
  fanOutLock: null,

  unlessTaken: 'on conflict do nothing',
  writes: 'inTransaction',

  failures: [
    [/^SQLITE_CANTOPEN/, 'cannot be opened; does its folder exist, and may this process write there?'],
    [/^SQLITE_(READONLY|PERM|AUTH)/, 'may not be written by this process'],
    [/^SQLITE_(NOTADB|CORRUPT)/, 'is damaged, or no SQLite database'],
    [/^SQLITE_(BUSY|LOCKED)/, 'is locked by another program'],
    [/^ERR_DLOPEN_FAILED$/, 'cannot be opened: its driver has no build for this Node.js; npm rebuild better-sqlite3'],
    [/^SQLITE_(FULL|IOERR)/, 'cannot be written; is the disk full?'],
  ],
  uncodedFailures: [
    [/bindings file/, 'ERR_DLOPEN_FAILED'],
    [/directory does not exist/, 'SQLITE_CANTOPEN'],
  ],
} as const satisfies SqlEngine;

/** Opens a file, and creates it if it does not exist; with `mustExist` it does neither that nor change its mode. */
export async function openSqliteFile(file: string, mustExist = false): Promise<SqliteDatabase> {
  const { default: Database } = await importDriver(SQLITE_PACKAGES, () => import('better-sqlite3'));
  if (mustExist && !existsSync(file)) throw new MissingDatabaseError(`there is no SQLite file ${file}`);
  // SQLite's own waiting for another process would stop this one, and be less fair.
  const database = new Database(file, { timeout: 0, fileMustExist: mustExist });
  try {
    // Changing the file's mode takes a moment without other connections.
    const makeWal = () => Promise.resolve().then(() => database.pragma('journal_mode = WAL'));
    if (!mustExist) await retryWhileBusy(sqliteEngine.isBusy, makeWal);
    database.pragma('synchronous = FULL');
  } catch (error) {
    database.close();
    throw error;
  }
  return withPreparedStatements(database);
}

/** Kysely prepares a statement each time it runs it, which took a third of a claim's time on a fast disk. */
function withPreparedStatements(database: SqliteDatabase): SqliteDatabase {
  const prepared = new Map<string, SqliteStatement>();
  return {
    close: () => database.close(),
    prepare: (text) => {
      const statement = prepared.get(text) ?? database.prepare(text);
      if (prepared.size === MAX_STATEMENTS) prepared.clear();
      prepared.set(text, statement);
      return statement;
    },
  };
}
