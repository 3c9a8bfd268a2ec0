import { importDriver } from './driver-errors.js';
import type { SqlEngine } from './sql-engine.js';
import { isSqliteBusy, openSqliteFile, SQLITE_PACKAGES, sqliteAccess } from './sqlite-access.js';

/** SQLite by better-sqlite3: one file, one writing transaction at a time over all processes. */
export const sqliteEngine = {
  name: 'sqlite' as const,
  displayName: 'the SQLite file',

  urlForm: 'sqlite:FILE',
  owns: (url) => url.startsWith('sqlite:'),
  async open(url, { mustExist = false } = {}) {
    const file = url.slice('sqlite:'.length).replace(/^\/\//, '');
    if (file === '') throw new Error('sqlite: needs a file: sqlite:payments.db');
    const { SqliteDialect } = await importDriver(SQLITE_PACKAGES, () => import('kysely'));
    return sqliteAccess(SqliteDialect, () => openSqliteFile(file, mustExist));
  },

  unprotectedHost: () => null,

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
  isBusy: isSqliteBusy,
  rowLock: () => '',
  fanOutLock: null,

  unlessTaken: 'on conflict do nothing',
  writes: 'inTransaction',

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
