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
