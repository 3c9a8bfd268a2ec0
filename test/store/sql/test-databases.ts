import Database from 'better-sqlite3';
import { CamelCasePlugin, Kysely, PostgresDialect, SqliteDialect } from 'kysely';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import {
  postgresPaymentStore,
  type SqlDialect,
  type SqlPaymentStore,
  type SqlStoreOptions,
  sqlitePaymentStore,
} from '../../../lib/store/sql/index.js';
import { type Postgres, startPostgres } from '../../services/postgres.js';

export interface ShopTables {
  orders: { id: string; paid_at: number | null };
}

/** An empty database of a host. */
export interface TestDatabase {
  readonly dialect: SqlDialect;
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
    private readonly folder: string,
  ) {}

  static async start(): Promise<TestDatabases> {
    return new TestDatabases(await startPostgres(), mkdtempSync(join(tmpdir(), 'payments-')));
  }

  async make(dialect: SqlDialect): Promise<TestDatabase> {
    const database = dialect === 'sqlite' ? this.makeSqlite() : await this.makePostgres();
    this.made.push(database);
    return database;
  }

  async stop(): Promise<void> {
    for (const database of this.made) await database.close();
    await this.postgres.stop();
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
}
