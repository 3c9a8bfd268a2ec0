import type { SqliteDatabase, SqliteDialect, SqliteStatement } from 'kysely';
import { chmodSync, closeSync, existsSync, openSync } from 'node:fs';
import { driverProblem } from '../../driver-check.js';
import type { SqlAccess, SqlEngine } from '../engine.js';
import { codeOf, importDriver, ShownError, shownFile } from '../errors.js';
import { retryWhileBusy } from '../retry.js';

const MAX_STATEMENTS = 200;
const OWNER_ONLY = 0o600;

/** SQLite by better-sqlite3: one file, one writing transaction at a time over all processes. */
export const sqliteEngine = {
  name: 'sqlite' as const,
  displayName: 'the SQLite file',

  urlForm: 'sqlite:FILE',
  owns: (url) => url.startsWith('sqlite:'),
  driver: 'better-sqlite3',
  access({ SqliteDialect }, url, mustExist) {
    const file = url.slice('sqlite:'.length).replace(/^\/\//, '');
    if (file === '') throw new ShownError('sqlite: needs a file: sqlite:payments.db');
    return sqliteAccess(SqliteDialect, file, mustExist);
  },

  server: null,

  schema: {
    keyType: () => 'text',
    jsonType: 'text',
    tableEnd: (isCompact) => (isCompact ? ' without rowid' : ''),
    indexOf: (condition) => ` where ${condition}`,
    isTransactional: true,
    now: 'unixepoch() * 1000',
  },
  time: null,
  hasTable: (table) => ({ sql: 'select name from sqlite_master where name = ?', parameters: [table] }),

  // Asks for the write lock at the start: a transaction that has already read may be refused it.
  begin: () => ['begin immediate'],
  sharesCommits: true,
  locksRows: false,
  // Statistics of a host's own ANALYZE would have a whole table read for a few rows of an unsettled state.
  indexHint: (index) => `indexed by ${index}`,

  isBusy: isSqliteBusy,
  isTaken: (error) => /^SQLITE_CONSTRAINT_(?:PRIMARYKEY|UNIQUE)$/.test(codeOf(error)),
  isThere: (error) => /already exists/.test(String((Object(error) as { message?: unknown }).message)),

  failures: [
    [/^SQLITE_CANTOPEN/, 'cannot be opened; does its folder exist, and may this process write there?'],
    [/^SQLITE_(READONLY|PERM|AUTH)/, 'may not be written by this process'],
    [/^SQLITE_(NOTADB|CORRUPT)/, 'is damaged, or no SQLite database'],
    [/^SQLITE_(BUSY|LOCKED)/, 'is locked by another program'],
    [
      /^ERR_DLOPEN_FAILED$/,
      'cannot be opened: better-sqlite3 has no build for this Node.js; npm rebuild better-sqlite3, or with pnpm: ' +
        'pnpm approve-builds, then pnpm rebuild better-sqlite3',
    ],
    [/^SQLITE_(FULL|IOERR)/, 'cannot be written; is the disk full?'],
  ],
  uncodedFailures: [
    [/bindings file/, 'ERR_DLOPEN_FAILED'],
    [/directory does not exist/, 'SQLITE_CANTOPEN'],
  ],
} satisfies SqlEngine;

/** Kysely and the store use one connection: a second one to `:memory:` would be another database. */
export function sqliteAccess(Dialect: typeof SqliteDialect, file: string, mustExist = false): SqlAccess {
  return { dialect: new Dialect({ database: () => openSqliteFile(file, mustExist) }), hasLimitedSessions: () => true };
}

/** Opens a file and creates it if it does not exist; with `mustExist` it creates none, and does not change its mode. */
export async function openSqliteFile(file: string, mustExist = false): Promise<SqliteDatabase> {
  // Version 13 crashes Node.js 20 with a segmentation fault.
  const problem = driverProblem('better-sqlite3');
  if (problem !== null) throw new ShownError(problem);
  const { default: Database } = await importDriver('better-sqlite3', () => import('better-sqlite3'));
  if (mustExist && !existsSync(file)) throw new ShownError(`there is no SQLite file ${shownFile(file)}`);
  const isFileOfOwner = !mustExist && file.trim() !== ':memory:';
  if (isFileOfOwner) makeForOwner(file.trim());
  // If SQLite itself waited for another process, it would block the event loop.
  const database = new Database(file, { timeout: 0, fileMustExist: mustExist });
  try {
    const set = (setting: string) => retryWhileBusy(isSqliteBusy, () => Promise.resolve(database.pragma(setting)));
    // The file's mode can only be changed while no other connection uses the file.
    if (!mustExist) await set('journal_mode = WAL');
    if (isFileOfOwner) keepToOwner(file.trim());
    await set('synchronous = FULL');
    // Keeps in memory what a savepoint may have to undo; in a file, that took a quarter of a payment's time.
    database.pragma('temp_store = MEMORY');
  } catch (error) {
    database.close();
    throw error;
  }
  return new PreparingDatabase(database);
}

/** Makes an empty file that nobody but its owner can read or write. SQLite makes the files beside it like it. */
function makeForOwner(file: string): void {
  try {
    // An existing file is not opened: closing it would release the locks that this process holds on it.
    closeSync(openSync(file, 'wx', OWNER_ONLY));
  } catch {
    // It exists already, or SQLite will say why it cannot be made.
  }
}

/** Does the same with a file that an older release made, once SQLite has found that it is a database. */
function keepToOwner(file: string): void {
  for (const one of [file, `${file}-wal`, `${file}-shm`]) {
    try {
      chmodSync(one, OWNER_ONLY);
    } catch {
      // There is none, or it is another user's, who shares it with this one.
    }
  }
}

/** Keeps prepared statements: preparing them each time took a third of a claim's time. */
class PreparingDatabase implements SqliteDatabase {
  private readonly prepared = new Map<string, SqliteStatement>();

  constructor(private readonly file: SqliteDatabase) {}

  prepare(text: string): SqliteStatement {
    const found = this.prepared.get(text);
    if (found) return found;
    const statement = this.file.prepare(text);
    if (this.prepared.size === MAX_STATEMENTS) this.prepared.clear();
    this.prepared.set(text, statement);
    return statement;
  }

  close(): void {
    this.file.close();
  }
}

function isSqliteBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY');
}
