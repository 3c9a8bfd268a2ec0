import { openSqlStore, type SqlDialect, sqlPaymentStore } from '../../../lib/store/sql/index.js';
import { Kysely, SqliteDialect } from 'kysely';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SqlEngine } from '../../../lib/store/sql/engine.js';
import { engineOfUrl, isSqlDialect, SQL_ENGINES } from '../../../lib/store/sql/engines.js';
import { mariadbEngine, mysqlEngine } from '../../../lib/store/sql/engines/mysql.js';
import { postgresEngine } from '../../../lib/store/sql/engines/postgres.js';
import { sqliteEngine } from '../../../lib/store/sql/engines/sqlite.js';

test.each<[string, SqlEngine | undefined]>([
  ['sqlite:payments.db', sqliteEngine],
  ['sqlite://payments.db', sqliteEngine],
  ['postgres://host/db', postgresEngine],
  ['postgresql://host/db', postgresEngine],
  ['mysql://host/db', mysqlEngine],
  ['mariadb://host/db', mariadbEngine],
  ...['mysql:', 'mysqli://host/db', 'MySQL://host/db', 'jdbc:mysql://host/db', 'x-sqlite:x', 'postgresq://host/db'].map(
    (url): [string, undefined] => [url, undefined],
  ),
  ['postgres:', undefined],
  ['memory:', undefined],
])('%s', (url, engine) => {
  expect(engineOfUrl(url)).toBe(engine);
});

test.each([
  ['sqlite:', 'sqlite: needs a file: sqlite:payments.db'],
  ['sqlite://', 'sqlite: needs a file: sqlite:payments.db'],
  ['postgres://u:secret@', 'a PostgreSQL URL looks like postgres://user:password@host:5432/database'],
  ['mysql://u:secret@host', 'a MySQL URL names a database: mysql://user:password@host:3306/database'],
  ['oracle://u:secret@host', 'a SQL store is sqlite:FILE, postgres://…'],
])('%s is refused', async (url, message) => {
  await expect(openSqlStore(url)).rejects.toThrow(message);
});

test('knows the names of its engines', () => {
  for (const { name } of SQL_ENGINES) expect(isSqlDialect(name)).toBe(true);
  expect(['toString', undefined].map(isSqlDialect)).toEqual([false, false]);
  expect(new Set(SQL_ENGINES.map(({ name }) => name)).size).toBe(SQL_ENGINES.length);
});

test('no engine loads Kysely or a driver by being imported', () => {
  const files = readdirSync('lib/store/sql/engines');
  const loaded = new Set<string>();
  const load = (file: string): void => {
    if (loaded.has(file)) return;
    loaded.add(file);
    const text = readFileSync(file, 'utf8');
    const imports = [...text.matchAll(/^(?:import(?! type)|export)\s[^;]*?from '([^']+)'/gm)].map(([, from]) => from!);
    expect([file, imports.filter((from) => !/^(?:\.|node:|@nestjs\/common$)/.test(from))]).toEqual([file, []]);
    for (const from of imports.filter((one) => one.startsWith('.')))
      load(join(dirname(file), from.replace(/js$/, 'ts')));
  };
  for (const file of ['engines.ts', 'schema.ts', 'open-sql-store.ts']) load(`lib/store/sql/${file}`);
  for (const file of files) expect(loaded).toContain(`lib/store/sql/engines/${file}`);
});

test('a dialect that nothing is known of is refused', () => {
  const db = new Kysely<object>({
    dialect: new SqliteDialect({ database: () => Promise.reject(new Error('unused')) }),
  });
  expect(() => sqlPaymentStore({ db, dialect: 'oracle' as SqlDialect })).toThrow(
    'the dialect of a SQL store is sqlite, postgres',
  );
});
