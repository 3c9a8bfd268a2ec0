import Database from 'better-sqlite3';
import { type Dialect, MysqlDialect, PostgresDialect, SqliteDialect } from 'kysely';
import mysql from 'mysql2';
import pg from 'pg';
import type { SqlDialect } from '../../../lib/store/sql/index.js';
import type { SharedStore } from '../../rigs/shared-stores.js';
import { SQL_SERVERS } from '../../rigs/sql-servers.js';
import { suiteStore } from '../../rigs/suite-stores.js';

/** What tests need to know of a database that the SQL store works with. */
interface TestedDatabase {
  /** Where empty databases are made. */
  start(): Promise<SharedStore>;
  /** Connections of a host's own. */
  kysely(url: string): Dialect;
  /** Runs a script of several statements. */
  run(url: string, script: string): Promise<unknown>;
  /** A query of every column and index. */
  readonly schema: string;
}

/** The databases that the SQL store is tried on, by the names of their dialects: a further one is a further entry. */
export const DATABASES = {
  sqlite: {
    start: () => suiteStore('SQLite'),
    kysely: (url) => new SqliteDialect({ database: sqliteFile(url) }),
    run: (url, script) => Promise.resolve(sqliteFile(url).exec(script).close()),
    schema: 'select sql from sqlite_master where sql is not null order by name',
  },
  postgres: {
    start: () => suiteStore('PostgreSQL'),
    kysely: (connectionString) => new PostgresDialect({ pool: new pg.Pool({ connectionString }) }),
    run: (url, script) => runOn('PostgreSQL', url, script),
    schema: `select table_name, column_name, data_type, collation_name, is_nullable, null as definition
      from information_schema.columns where table_schema = 'public'
      union all select tablename, indexname, null, null, null, indexdef from pg_indexes where schemaname = 'public'
      order by 1, 2`,
  },
  mariadb: {
    start: () => suiteStore('MariaDB'),
    // Plans are told by what a connection has read.
    kysely: (uri) => new MysqlDialect({ pool: mysql.createPool({ uri, connectionLimit: 1 }) }),
    run: (url, script) => runOn('MariaDB', url, script),
    schema: `select table_name, column_name, column_type, collation_name, is_nullable, null as place
      from information_schema.columns where table_schema = database()
      union all select table_name, index_name, column_name, non_unique, null, seq_in_index
      from information_schema.statistics where table_schema = database()
      order by 1, 2, 3`,
  },
} satisfies Partial<Readonly<Record<SqlDialect, TestedDatabase>>>;

export type TestedDialect = keyof typeof DATABASES;

export const DIALECTS = Object.keys(DATABASES) as TestedDialect[];

/** The mode cannot be changed by a store while a host has the file open. */
function sqliteFile(url: string): Database.Database {
  const file = new Database(url.slice('sqlite:'.length));
  file.pragma('journal_mode = WAL');
  return file;
}

async function runOn(server: keyof typeof SQL_SERVERS, url: string, script: string): Promise<void> {
  const session = await SQL_SERVERS[server].connect(url);
  await session.run(script).finally(session.end);
}
