import type { SqlEngine } from '../../../lib/store/sql/engine.js';
import { mysqlEngine } from '../../../lib/store/sql/engines/mysql.js';
import { postgresEngine } from '../../../lib/store/sql/engines/postgres.js';
import { sqliteEngine } from '../../../lib/store/sql/engines/sqlite.js';
import { codeOf, openError, ShownError } from '../../../lib/store/sql/errors.js';

const coded = (code: unknown) => Object.assign(new Error('user:secret@host'), { code });

const UNREACHABLE = 'does not answer; is it running, and reachable from here?';

/** How an operator learns why a store cannot be opened: the engine, some of the driver's codes, and how it goes on. */
const MEANINGS: readonly (readonly [engine: SqlEngine, codes: string, meaning: string])[] = [
  [sqliteEngine, 'SQLITE_CANTOPEN SQLITE_CANTOPEN_ISDIR', 'cannot be opened; does its folder exist'],
  [sqliteEngine, 'SQLITE_NOTADB SQLITE_CORRUPT_INDEX', 'is damaged, or no SQLite database'],
  [sqliteEngine, 'ERR_DLOPEN_FAILED', 'cannot be opened: better-sqlite3 has no build for this Node.js'],
  [sqliteEngine, 'SQLITE_MISUSE X_SQLITE_BUSY X_ERR_DLOPEN_FAILED ERR_DLOPEN_FAILED_X', 'cannot be used'],
  [postgresEngine, 'ECONNRESET ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH ETIMEDOUT EPIPE', UNREACHABLE],
  [postgresEngine, '42501', 'does not let this user make, read or write the payment tables'],
  [postgresEngine, 'EPROTO ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'does not agree on TLS: 1.2 or 1.3'],
  [postgresEngine, '42830 XENOTFOUND 1ECONN XEPROTO 13D000 3D0001 XX000', 'cannot be used'],
  [mysqlEngine, 'ECONNRESET ENOENT PROTOCOL_CONNECTION_LOST', UNREACHABLE],
  [mysqlEngine, 'ER_READ_ONLY_MODE ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION', 'is read-only; is it a replica?'],
  [mysqlEngine, 'XER_BAD_DB_ERROR ER_BAD_DB_ERRORX XEPROTO HANDSHAKE_NO_SSL_SUPPORTX', 'cannot be used'],
];

test.each(MEANINGS)('$displayName, %s: %s', (engine, codes, meaning) => {
  for (const code of codes.split(' ')) {
    const { message } = openError(coded(code), engine);
    expect(message.startsWith(`${engine.displayName} ${meaning}`)).toBe(true);
    expect(message.endsWith(` (${code})`)).toBe(true);
  }
});

test.each<[SqlEngine, unknown, string]>([
  [postgresEngine, new Error('timeout exceeded when trying to connect'), `PostgreSQL ${UNREACHABLE} (ETIMEDOUT)`],
  [sqliteEngine, new Error('Could not locate the bindings file.'), 'the SQLite file cannot be opened: better-sqlite3'],
  [mysqlEngine, new Error('anything else'), 'MySQL cannot be used'],
  [postgresEngine, 'user:secret@host', 'PostgreSQL cannot be used'],
  [sqliteEngine, new ShownError('the tables are old'), 'the tables are old'],
])('without a code, $displayName: %s', (engine, error, message) => {
  expect(openError(error, engine).message).toMatch(message);
});

test.each<[SqlEngine, string, string]>([
  [sqliteEngine, 'SQLITE_BUSY SQLITE_BUSY_SNAPSHOT', 'SQLITE_LOCKED SQLITE_FULL'],
  [postgresEngine, '40P01 40001', '23505'],
  [mysqlEngine, 'ER_LOCK_DEADLOCK ER_LOCK_WAIT_TIMEOUT ER_TRANSACTION_ROLLBACK_DURING_COMMIT', 'ER_DUP_ENTRY'],
])('$displayName is asked again after %s, and not after %s', (engine, busy, others) => {
  const isBusy = (codes: string) => codes.split(' ').map((code) => engine.isBusy(coded(code)));
  expect([new Set(isBusy(busy)), new Set(isBusy(others))]).toEqual([new Set([true]), new Set([false])]);
});

test.each([
  [coded('SQLITE_BUSY'), 'SQLITE_BUSY'],
  [coded('not a code'), ''],
  [coded('geheim ECONNREFUSED'), ''],
  [coded('ECONNREFUSED geheim'), ''],
  [coded(42), ''],
  ['a text', ''],
  [null, ''],
])('the code of %s', (error, code) => {
  expect(codeOf(error)).toBe(code);
});
