import Database from 'better-sqlite3';
import { CamelCasePlugin, Kysely, MysqlDialect, PostgresDialect, SqliteDialect } from 'kysely';
import mysql from 'mysql2';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import {
  mysqlPaymentStore,
  postgresPaymentStore,
  type SqlDialect,
  type SqlPaymentStore,
  type SqlStoreOptions,
  sqlitePaymentStore,
} from '../../../lib/store/sql/index.js';
import { type MariaDb, startMariaDb } from '../../services/mariadb.js';
import { type Postgres, startPostgres } from '../../services/postgres.js';

/** The databases that tests of the SQL store run on. */
export const DIALECTS = ['sqlite', 'postgres', 'mariadb'] as const satisfies readonly SqlDialect[];

type TestedDialect = (typeof DIALECTS)[number];

export interface ShopTables {
  orders: { id: string; paid_at: number | null };
}

/** An empty database of a host. */
export interface TestDatabase {
  readonly dialect: TestedDialect;
  readonly db: Kysely<ShopTables>;
  /** A store on the same database with connections of its own. */
  readonly store: (options?: SqlStoreOptions) => SqlPaymentStore;
  /** Runs a script of several statements. */
  readonly run: (script: string) => Promise<void>;
  readonly close: () => Promise<unknown>;
}

/** Makes databases, and takes them away. */
export class TestDatabases {
  private readonly made: TestDatabase[] = [];

  private constructor(
    private readonly postgres: Postgres,
    private readonly mariadb: MariaDb,
    private readonly folder: string,
  ) {}

  static async start(): Promise<TestDatabases> {
    const [postgres, mariadb] = await Promise.all([startPostgres(), startMariaDb()]);
    return new TestDatabases(postgres, mariadb, mkdtempSync(join(tmpdir(), 'payments-')));
  }

  async make(dialect: TestedDialect): Promise<TestDatabase> {
    const database = await {
      sqlite: () => this.makeSqlite(),
      postgres: () => this.makePostgres(),
      mariadb: () => this.makeMariaDb(),
    }[dialect]();
    this.made.push(database);
    return database;
  }

  async stop(): Promise<void> {
    for (const database of this.made) await database.close();
    await Promise.all([this.postgres.stop(), this.mariadb.stop()]);
    rmSync(this.folder, { recursive: true });
  }

  private makeSqlite(): TestDatabase {
    const file = join(this.folder, `${this.made.length}.db`);
    const database = new Database(file);
    database.pragma('journal_mode = WAL');
    return {
      dialect: 'sqlite',
      db: new Kysely({ dialect: new SqliteDialect({ database }), plugins: [new CamelCasePlugin()] }),
      store: (options) => sqlitePaymentStore({ file, ...options }),
      run: (script) => Promise.resolve(void database.exec(script)),
      close: () => Promise.resolve(database.close()),
    };
  }

  private async makePostgres(): Promise<TestDatabase> {
    const connectionString = await this.postgres.createDatabase();
    const pool = new pg.Pool({ connectionString });
    return {
      dialect: 'postgres',
      db: new Kysely({ dialect: new PostgresDialect({ pool }), plugins: [new CamelCasePlugin()] }),
      store: (options) => postgresPaymentStore({ connectionString, ...options }),
      run: async (script) => void (await pool.query(script)),
      close: () => pool.end(),
    };
  }

  private async makeMariaDb(): Promise<TestDatabase> {
    const connectionString = await this.mariadb.createDatabase();
    const pool = mysql.createPool({ uri: connectionString, multipleStatements: true });
    return {
      dialect: 'mariadb',
      db: new Kysely({ dialect: new MysqlDialect({ pool }), plugins: [new CamelCasePlugin()] }),
      store: (options) => mysqlPaymentStore({ connectionString, ...options }),
      run: async (script) => void (await pool.promise().query(script)),
      close: () => pool.promise().end(),
    };
  }
}
