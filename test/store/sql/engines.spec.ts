import { readdirSync, readFileSync } from 'node:fs';
import { engineOfUrl, isSqlDialect, SQL_ENGINES } from '../../../lib/store/sql/engines.js';
import { postgresEngine } from '../../../lib/store/sql/postgres.engine.js';
import { sqliteEngine } from '../../../lib/store/sql/sqlite.engine.js';

test.each([
  ['sqlite:payments.db', sqliteEngine],
  ['sqlite://payments.db', sqliteEngine],
  ['postgres://host/db', postgresEngine],
  ['postgresql://host/db', postgresEngine],
  ['postgres:', undefined],
  ['redis://host', undefined],
  ['memory:', undefined],
])('%s', (url, engine) => {
  expect(engineOfUrl(url)).toBe(engine);
});

test('knows the names of its engines', () => {
  expect(['sqlite', 'postgres', 'toString', undefined].map(isSqlDialect)).toEqual([true, true, false, false]);
  expect(new Set(SQL_ENGINES.map(({ name }) => name)).size).toBe(SQL_ENGINES.length);
});

test('no engine loads Kysely or a driver by being imported', () => {
  const engines = readdirSync('lib/store/sql').filter((file) => file.endsWith('.engine.ts'));
  expect(engines).toHaveLength(SQL_ENGINES.length);
  for (const file of [
    ...engines,
    'engines.ts',
    'payment-schema.ts',
    'driver-errors.ts',
    'postgres-access.ts',
    'bounded-pool.ts',
    'within.ts',
  ]) {
    const text = readFileSync(`lib/store/sql/${file}`, 'utf8');
    expect(text).not.toMatch(/^(?:import(?! type)|export) [^;]*from '(?!\.)(?!node:)/m);
  }
});

test("how transactions keep out of each other's way", () => {
  expect(sqliteEngine.isBusy(Object.assign(new Error(), { code: 'SQLITE_BUSY_SNAPSHOT' }))).toBe(true);
  expect(sqliteEngine.isBusy(Object.assign(new Error(), { code: 'SQLITE_CORRUPT' }))).toBe(false);
  expect(postgresEngine.fanOutLock('shop')).toEqual({
    sql: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
    parameters: ['card_payment shop'],
  });
});
