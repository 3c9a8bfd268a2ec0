import { codeOf, importDriver, MissingDriverError, openError, SchemaError } from '../../../lib/store/sql/errors.js';
import { postgresEngine } from '../../../lib/store/sql/engines/postgres.js';
import { sqliteEngine } from '../../../lib/store/sql/engines/sqlite.js';

const coded = (code: unknown, message = 'user:secret@host') => Object.assign(new Error(message), { code });

test.each(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'])('a missing driver is named (%s)', async (code) => {
  const load = () => Promise.reject(Object.assign(new Error("Cannot find package 'pg'"), { code }));
  await expect(importDriver('kysely pg', load)).rejects.toThrow('a package is missing: npm install kysely pg');
});

test('any other failure to load is passed on', async () => {
  const failure = coded('ERR_DLOPEN_FAILED');
  await expect(importDriver('kysely pg', () => Promise.reject(failure))).rejects.toBe(failure);
});

test.each([
  [coded('SQLITE_BUSY'), 'SQLITE_BUSY'],
  [coded('not a code'), ''],
  [coded('geheim ECONNREFUSED'), ''],
  [coded('ECONNREFUSED geheim'), ''],
  [coded(42), ''],
  [new Error('none'), ''],
  ['a text', ''],
  [null, ''],
])('the code of %s', (error, code) => {
  expect(codeOf(error)).toBe(code);
});

test.each([
  [
    postgresEngine,
    coded('ECONNREFUSED'),
    'PostgreSQL does not answer; is it running, and reachable from here? (ECONNREFUSED)',
  ],
  [
    postgresEngine,
    new Error('timeout exceeded when trying to connect'),
    'PostgreSQL does not answer; is it running, and reachable from here? (ETIMEDOUT)',
  ],
  [postgresEngine, coded('28P01'), 'PostgreSQL refuses this user or password (28P01)'],
  [postgresEngine, coded('XX000'), 'PostgreSQL cannot be used (XX000)'],
  [postgresEngine, 'user:secret@host', 'PostgreSQL cannot be used'],
  [sqliteEngine, coded('SQLITE_FULL'), 'the SQLite file cannot be written; is the disk full? (SQLITE_FULL)'],
  [
    sqliteEngine,
    new Error('Could not locate the bindings file.'),
    'the SQLite file cannot be opened: better-sqlite3 has no build for this Node.js; npm rebuild better-sqlite3, or with ' +
      'pnpm: pnpm approve-builds, then pnpm rebuild better-sqlite3 (ERR_DLOPEN_FAILED)',
  ],
  [sqliteEngine, new SchemaError('the tables are old'), 'the tables are old'],
  [sqliteEngine, new MissingDriverError('kysely'), 'a package is missing: npm install kysely'],
])('$name: %s', (engine, error, message) => {
  expect(openError(error, engine)).toEqual(new Error(message));
});
