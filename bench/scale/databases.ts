import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { type Dialect, Kysely, MysqlDialect, PostgresDialect, sql, SqliteDialect } from 'kysely';
import mysql from 'mysql2';
import pg from 'pg';
import { startMariaDb } from '../../test/services/mariadb.js';
import { startPostgres } from '../../test/services/postgres.js';
import { DURABLE } from '../payments/stores.js';

export const SCALE_DATABASES = ['postgres', 'mariadb', 'sqlite'] as const;
export type ScaleDatabaseName = (typeof SCALE_DATABASES)[number];

/** What can be chosen on the command line. */
export interface ScaleOptions {
  readonly database: ScaleDatabaseName;
  /** With how many payments the database is filled. */
  readonly stored: number;
  /** In the tables of docs/partitioned-postgres.sql. */
  readonly partitioned: boolean;
}

/** A server that databases are made on, or the folder of SQLite's files. */
export interface ScaleServer {
  /** What is counted: `pages of 8 KiB`; null where nothing is. */
  readonly unit: string | null;
  /** @returns the URL of a new database */
  create(): Promise<string>;
  connect(url: string): ScaleConnection;
  stop(): Promise<void>;
}

/** A look into a database beside its store. */
export interface ScaleConnection {
  readonly run: (statement: string) => Promise<readonly Record<string, unknown>[]>;
  /** How much all statements have read so far. */
  reads(): Promise<number>;
  /** Bytes of all tables and indexes. */
  bytes(): Promise<number>;
  readonly end: () => Promise<void>;
}

export function startServer({ database, partitioned }: ScaleOptions): Promise<ScaleServer> {
  if (database === 'mariadb') return mariadbServer();
  return database === 'sqlite' ? Promise.resolve(sqliteFolder()) : postgresServer(partitioned);
}

async function postgresServer(partitioned: boolean): Promise<ScaleServer> {
  const server = await startPostgres({
    ...DURABLE.postgres,
    shared_buffers: '1GB',
    max_wal_size: '4GB',
    shared_preload_libraries: 'pg_stat_statements',
  });
  const connect = (connectionString: string) => {
    // When the server is stopped after an error, that error is the one to show.
    const pool = new pg.Pool({ connectionString, max: 1 }).on('error', () => undefined);
    return connection(new PostgresDialect({ pool }), {
      reads: 'select sum(shared_blks_hit + shared_blks_read) as count from pg_stat_statements',
      bytes: 'select pg_database_size(current_database()) as count',
    });
  };
  return {
    unit: 'pages of 8 KiB',
    connect,
    async create() {
      const url = await server.createDatabase();
      const { run, end } = connect(url);
      await run('create extension pg_stat_statements');
      if (partitioned) {
        await run(readFileSync('docs/partitioned-postgres.sql', 'utf8'));
        const month = '(now() - make_interval(days => 28 * n))::date';
        await run(`select card_payment_add_month(${month}) from generate_series(1, 14) as n`);
      }
      await end();
      return url;
    },
    stop: () => server.stop(),
  };
}

async function mariadbServer(): Promise<ScaleServer> {
  const server = await startMariaDb({
    ...DURABLE.mariadb,
    innodb_buffer_pool_size: '1G',
    innodb_log_file_size: '1G',
    userstat: '1',
  });
  return {
    unit: 'rows',
    create: () => server.createDatabase(),
    connect: (uri) =>
      connection(new MysqlDialect({ pool: mysql.createPool({ uri, connectionLimit: 1, charset: 'utf8mb4_bin' }) }), {
        reads: `select sum(rows_read) as count from information_schema.table_statistics
          where table_schema = database()`,
        bytes: `select sum(data_length + index_length) as count from information_schema.tables
          where table_schema = database()`,
      }),
    stop: () => server.stop(),
  };
}

function sqliteFolder(): ScaleServer {
  const folder = mkdtempSync(join(tmpdir(), 'card-payment-bench-'));
  let files = 0;
  return {
    unit: null,
    create: () => Promise.resolve(`sqlite:${join(folder, `${(files += 1)}.db`)}`),
    connect(url) {
      const database = new Database(url.slice('sqlite:'.length));
      database.function('md5', (text) => createHash('md5').update(String(text)).digest('hex'));
      return connection(new SqliteDialect({ database }), {
        reads: 'select 0 as count',
        bytes: 'select page_count * page_size as count from pragma_page_count, pragma_page_size',
      });
    },
    stop: () => Promise.resolve(rmSync(folder, { recursive: true })),
  };
}

function connection(dialect: Dialect, counts: { readonly reads: string; readonly bytes: string }): ScaleConnection {
  const db = new Kysely<object>({ dialect });
  const run = async (statement: string) => (await sql.raw<Record<string, unknown>>(statement).execute(db)).rows;
  const count = async (statement: string) => Number((await run(statement))[0]?.['count'] ?? 0);
  return { run, reads: () => count(counts.reads), bytes: () => count(counts.bytes), end: () => db.destroy() };
}
