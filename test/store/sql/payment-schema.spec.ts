import { jest } from '@jest/globals';
import Database from 'better-sqlite3';
import { CamelCasePlugin, Kysely, PostgresDialect, sql, SqliteDialect } from 'kysely';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { importDriver } from '../../../lib/store/sql/driver-errors.js';
import {
  openSqlStore,
  paymentSchema,
  postgresPaymentStore,
  type SqlDialect,
  type SqlPaymentStore,
  sqlitePaymentStore,
  sqlPaymentStore,
} from '../../../lib/store/sql/index.js';
import { paymentStoreContract } from '../../../lib/testing/index.js';
import { type Postgres, startPostgres } from '../../services/postgres.js';

interface ShopTables {
  orders: { id: string; paid_at: number | null };
}

interface TestDatabase {
  readonly dialect: SqlDialect;
  readonly db: Kysely<ShopTables>;
  /** A store on the same database with connections of its own. */
  readonly store: (options?: { migrate?: boolean }) => SqlPaymentStore;
  /** Runs a script of several statements. */
  readonly run: (script: string) => Promise<void>;
}

let postgres: Postgres;
const folder = mkdtempSync(join(tmpdir(), 'payments-'));
const ends: (() => Promise<void>)[] = [];
let files = 0;

beforeAll(async () => {
  postgres = await startPostgres();
});

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true });
});

const databases: Record<SqlDialect, () => Promise<TestDatabase>> = {
  sqlite: () => {
    const file = join(folder, `${(files += 1)}.db`);
    const database = new Database(file);
    database.pragma('journal_mode = WAL');
    const db = new Kysely<ShopTables>({ dialect: new SqliteDialect({ database }), plugins: [new CamelCasePlugin()] });
    ends.push(() => Promise.resolve(void database.close()));
    return Promise.resolve({
      dialect: 'sqlite',
      db,
      store: (options) => sqlitePaymentStore({ file, ...options }),
      run: (script) => Promise.resolve(void database.exec(script)),
    });
  },
  postgres: async () => {
    const connectionString = await postgres.createDatabase();
    const pool = new pg.Pool({ connectionString });
    const db = new Kysely<ShopTables>({ dialect: new PostgresDialect({ pool }), plugins: [new CamelCasePlugin()] });
    ends.push(() => pool.end());
    return {
      dialect: 'postgres',
      db,
      store: (options) => postgresPaymentStore({ connectionString, ...options }),
      run: async (script) => void (await pool.query(script)),
    };
  },
};

describe.each(['sqlite', 'postgres'] as const)('%s', (dialect) => {
  test('many that open at once make the schema once', async () => {
    const { store, db } = await databases[dialect]();
    const stores = Array.from({ length: 8 }, () => store());
    await Promise.all(stores.map((one) => one.open()));
    await Promise.all(stores.map((one) => one.close()));
    const { rows } = await sql<{ version: number }>`select version from card_payment_migration`.execute(db);
    expect(rows.map(({ version }) => version)).toEqual([1]);
  });

  test('the printed schema is the one that is made', async () => {
    const printed = await databases[dialect]();
    const made = await databases[dialect]();
    await printed.run(paymentSchema(dialect));
    const store = made.store();
    await store.open();
    await store.close();
    expect(await schemaOf(printed)).toEqual(await schemaOf(made));

    const checked = printed.store({ migrate: false });
    await checked.open();
    await paymentStoreContract[0]!.run({ create: () => Promise.resolve(checked) });
  });

  test('migrate: false says what is missing', async () => {
    const { store } = await databases[dialect]();
    const opened = store({ migrate: false });
    await expect(opened.open()).rejects.toThrow(
      `the payment tables are missing, and this release of nestjs-card-payment needs version 1: ` +
        `apply what "npx nestjs-card-payment schema --dialect ${dialect}" prints`,
    );
    await opened.close();
  });

  test('a schema newer than the code is left alone', async () => {
    const { store, run } = await databases[dialect]();
    await run(paymentSchema(dialect));
    await run('insert into card_payment_migration (version, applied_at) values (99, 0)');
    for (const migrate of [true, false]) {
      const opened = store({ migrate });
      await expect(opened.open()).rejects.toThrow('of version 99, newer than this release of nestjs-card-payment');
      await opened.close();
    }
  });

  test('lives beside the tables of a host, whose Kysely stays open and keeps its plugins', async () => {
    const { db } = await databases[dialect]();
    await db.schema.createTable('orders').addColumn('id', 'text').addColumn('paid_at', 'bigint').execute();
    const store = sqlPaymentStore({ db, dialect });
    await store.open();
    for (const check of paymentStoreContract) await check.run({ create: () => Promise.resolve(store) });
    await store.close();
    await db.insertInto('orders').values({ id: 'a', paid_at: 1 }).execute();
    const rows = await db.selectFrom('orders').selectAll().execute();
    expect(rows.map((row) => Object.keys(row))).toEqual([['id', 'paidAt']]);
  });
});

test('PostgreSQL: a pool that was given stays open', async () => {
  const pool = new pg.Pool({ connectionString: await postgres.createDatabase() });
  ends.push(() => pool.end());
  const store = postgresPaymentStore({ pool });
  await store.open();
  await store.close();
  expect((await pool.query<{ count: string }>('select count(*) from card_payment')).rows).toEqual([{ count: '0' }]);
});

test('SQLite: written through to the disk, with a write-ahead log', async () => {
  const file = join(folder, 'pragmas.db');
  const store = sqlitePaymentStore({ file });
  await store.open();
  expect(existsSync(`${file}-wal`)).toBe(true);
  await store.close();
  expect(existsSync(`${file}-wal`)).toBe(false);
});

describe('openSqlStore', () => {
  test.each([
    ['sqlite', (): Promise<string> => Promise.resolve(`sqlite:${join(folder, 'url.db')}`)],
    ['sqlite with slashes', () => Promise.resolve(`sqlite://${join(folder, 'slashes.db')}`)],
    ['postgres', () => postgres.createDatabase()],
    ['postgresql', async () => (await postgres.createDatabase()).replace('postgres:', 'postgresql:')],
  ])('%s', async (_name, url) => {
    const store = await openSqlStore(await url());
    await store.open();
    await paymentStoreContract[0]!.run({ create: () => Promise.resolve(store) });
  });

  test.each([
    ['sqlite:', 'sqlite: needs a file: sqlite:payments.db'],
    ['postgres://u:secret@', 'a PostgreSQL URL looks like postgres://user:password@host:5432/database'],
    ['mysql://u:secret@host', 'a SQL store is sqlite:FILE or postgres://…'],
  ])('%s is refused', async (url, message) => {
    await expect(openSqlStore(url)).rejects.toThrow(message);
  });

  test.each([
    [
      'no such folder',
      () => `sqlite:${folder}/none/x.db`,
      'the SQLite file cannot be opened; does its folder exist, and may this process write there? (SQLITE_CANTOPEN)',
    ],
    ['a folder', () => `sqlite:${folder}`, /^the SQLite file cannot be opened; .* \(SQLITE_CANTOPEN/],
    [
      'no database',
      () => {
        writeFileSync(join(folder, 'text.db'), 'This is a text, and long enough to be looked at.'.repeat(100));
        return `sqlite:${folder}/text.db`;
      },
      'the SQLite file is damaged, or no SQLite database (SQLITE_NOTADB)',
    ],
    [
      'a dead server',
      () => 'postgres://ada:geheim@127.0.0.1:1/shop',
      'PostgreSQL does not answer; is it running, and reachable from here? (ECONNREFUSED)',
    ],
    [
      'no such database',
      () => postgres.url.replace('postgres@', 'postgres:geheim@').replace(/postgres$/, 'geheim'),
      'PostgreSQL has no such database (3D000)',
    ],
    [
      'no such user',
      () => postgres.url.replace('postgres@', 'ada:geheim@'),
      'PostgreSQL refuses this user or password (28000)',
    ],
  ])('%s: a start-up error that says so', async (_name, url, message) => {
    const store = await openSqlStore(url());
    const error = await store.open().then(
      () => null,
      (reason: unknown) => reason as Error,
    );
    expect(error?.message).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
    expect(`${error?.stack}${JSON.stringify(error)}${String(error?.cause)}`).not.toMatch(/geheim|ada/);
    await store.close();
  });

  test.each(['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'])('a missing driver is named (%s)', async (code) => {
    const load = () => Promise.reject(Object.assign(new Error("Cannot find package 'pg'"), { code }));
    await expect(importDriver('kysely pg', load)).rejects.toThrow('a package is missing: npm install kysely pg');
  });

  test('a missing driver comes through open', async () => {
    await jest.isolateModulesAsync(async () => {
      jest.unstable_mockModule('better-sqlite3', () => {
        throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
      });
      const sqlModule = await import('../../../lib/store/sql/index.js');
      const store = await sqlModule.openSqlStore('sqlite:x.db');
      await expect(store.open()).rejects.toThrow('a package is missing: npm install kysely better-sqlite3');
    });
  });
});

/** Every table and index, as the database has them. */
async function schemaOf({ dialect, db }: TestDatabase): Promise<unknown[]> {
  const query =
    dialect === 'sqlite'
      ? sql`select sql from sqlite_master where sql is not null order by name`
      : sql`select table_name, column_name, data_type, collation_name, is_nullable, null as definition
            from information_schema.columns where table_schema = 'public'
            union all select tablename, indexname, null, null, null, indexdef from pg_indexes where schemaname = 'public'
            order by 1, 2`;
  return (await query.execute(db)).rows;
}
