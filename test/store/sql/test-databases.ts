import Database from 'better-sqlite3';
import { type Dialect, MysqlDialect, PostgresDialect, SqliteDialect } from 'kysely';
import mysql from 'mysql2';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { SqlDialect } from '../../../lib/store/sql/index.js';
import { startMariaDb } from '../../services/mariadb.js';
import { startPostgres } from '../../services/postgres.js';

/** Where empty databases are made. */
export interface TestServer {
  /** @returns its URL */
  createDatabase(): Promise<string>;
  stop(): Promise<void>;
}

/** What tests need to know of a database that the SQL store works with. */
interface TestedDatabase {
  start(): Promise<TestServer>;
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
    start() {
      const folder = mkdtempSync(join(tmpdir(), 'payments-'));
      let files = 0;
      return Promise.resolve({
        createDatabase() {
          const file = join(folder, `${(files += 1)}.db`);
          const made = new Database(file);
          made.pragma('journal_mode = WAL');
          made.close();
          return Promise.resolve(`sqlite:${file}`);
        },
        stop: () => Promise.resolve(rmSync(folder, { recursive: true })),
      });
    },
    kysely: (url) => new SqliteDialect({ database: new Database(url.slice('sqlite:'.length)) }),
    run: (url, script) => Promise.resolve(new Database(url.slice('sqlite:'.length)).exec(script).close()),
    schema: 'select sql from sqlite_master where sql is not null order by name',
  },
  postgres: {
    start: startPostgres,
    kysely: (connectionString) => new PostgresDialect({ pool: new pg.Pool({ connectionString }) }),
    async run(connectionString, script) {
      const client = new pg.Client({ connectionString });
      await client.connect();
      await client.query(script).finally(() => client.end());
    },
    schema: `select table_name, column_name, data_type, collation_name, is_nullable, null as definition
      from information_schema.columns where table_schema = 'public'
      union all select tablename, indexname, null, null, null, indexdef from pg_indexes where schemaname = 'public'
      order by 1, 2`,
  },
  mariadb: {
    start: startMariaDb,
    // Plans are told by what a connection has read.
    kysely: (uri) => new MysqlDialect({ pool: mysql.createPool({ uri, connectionLimit: 1 }) }),
    async run(uri, script) {
      const connection = mysql.createConnection({ uri, multipleStatements: true }).promise();
      await connection.query(script).finally(() => connection.end());
    },
    schema: `select table_name, column_name, column_type, collation_name, is_nullable, null as place
      from information_schema.columns where table_schema = database()
      union all select table_name, index_name, column_name, non_unique, null, seq_in_index
      from information_schema.statistics where table_schema = database()
      order by 1, 2, 3`,
  },
} satisfies Partial<Readonly<Record<SqlDialect, TestedDatabase>>>;

export type TestedDialect = keyof typeof DATABASES;

export const DIALECTS = Object.keys(DATABASES) as TestedDialect[];
