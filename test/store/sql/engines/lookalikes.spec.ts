import { Kysely, PostgresDialect } from 'kysely';
import mysql from 'mysql2';
import pg from 'pg';
import { inspect } from 'node:util';
import { openStore } from '../../../../lib/store/open-store.js';
import {
  mysqlPaymentStore,
  openSqlStore,
  postgresPaymentStore,
  sqlPaymentStore,
  type SqlPaymentStore,
} from '../../../../lib/store/sql/index.js';
import { TestClock } from '../../../../lib/testing/index.js';
import { type Lookalike, startMysqlLookalike, startPostgresLookalike } from '../../../services/lookalikes.js';
import { LOOKALIKES, mysqlAnswers, postgresAnswers, writesAmong } from './lookalike-cases.js';

let lookalike: Lookalike | undefined;

describe('lookalikes', () => {
  afterEach(async () => {
    await lookalike?.stop();
    lookalike = undefined;
  });

  test.each(LOOKALIKES)('$name is refused by name, before anything is written', async ({ start, message }) => {
    lookalike = await start();
    expect(await problemOf(await openSqlStore(lookalike.url))).toBe(message);
    expect(lookalike.asked).not.toEqual([]);
    expect(writesAmong(lookalike.asked)).toEqual([]);
  });

  test.each(LOOKALIKES.filter(({ name }) => ['TiDB', 'CockroachDB'].includes(name)))(
    '$name stops the start of an application, with the variable that names it',
    async ({ start, message }) => {
      lookalike = await start();
      const settings = { store: null, storeUrl: lookalike.url, variable: 'PAYMENT_STORE_URL', background: true };
      await expect(openStore({ ...settings, clock: new TestClock() })).rejects.toMatchObject({
        problems: [{ option: 'storeUrl', variable: 'PAYMENT_STORE_URL', message: `cannot be opened: ${message}` }],
      });
    },
  );

  const COCKROACH = 'CockroachDB CCL v24.1.2 (x86_64-pc-linux-gnu, built 2024/06/26 19:57:48, go1.22.4)';

  test('over a given pool or Kysely instance they are refused as well', async () => {
    lookalike = await startMysqlLookalike(mysqlAnswers('8.0.11-TiDB-v8.5.6', 'TiDB Server'));
    const pool = mysql.createPool(lookalike.url);
    expect(await problemOf(mysqlPaymentStore({ pool }))).toMatch(/^payments cannot be kept in TiDB: /);
    expect(writesAmong(lookalike.asked)).toEqual([]);
    await new Promise((resolve) => pool.end(resolve));
    await lookalike.stop();

    lookalike = await startPostgresLookalike(postgresAnswers(COCKROACH, /^$/));
    const given = new pg.Pool({ connectionString: lookalike.url });
    expect(await problemOf(postgresPaymentStore({ pool: given }))).toMatch(/^payments cannot be kept in CockroachDB: /);
    const db = new Kysely<object>({ dialect: new PostgresDialect({ pool: given }) });
    expect(await problemOf(sqlPaymentStore({ db, dialect: 'postgres' }))).toMatch(/kept in CockroachDB: /);
    expect(writesAmong(lookalike.asked)).toEqual([]);
    await db.destroy();
  });

  test.each([
    ['postgres://admin:geheim@foobarbazquxabcdefghijklmn.dsql.us-east-1.on.aws/postgres', 'Aurora DSQL'],
    ['postgres://admin:geheim@foobarbazquxabcdefghijklmn.dsql-fnh4a2.eu-west-1.on.aws:5432/postgres', 'Aurora DSQL'],
    ['postgres:///postgres?host=foobarbazquxabcdefghijklmn.dsql.us-east-1.on.aws', 'Aurora DSQL'],
    ['mysql://ada:geheim@aws.connect.psdb.cloud/shop?ssl=true', 'PlanetScale'],
  ])('%s is refused by its host, without a connection', async (url, name) => {
    expect(await problemOf(await openSqlStore(url))).toMatch(`payments cannot be kept in ${name}: it `);
  });

  test.each([
    ['8.0.1-dmr', 'MySQL Community Server (GPL)'],
    ['8.0.36', 'MySQL Community Server - GPL'],
    ['8.0.36-28.1', 'Percona XtraDB Cluster (GPL), Release rel28, Revision bfb687f, WSREP version 26.1.4.3'],
    ['8.4.3', 'Source distribution'],
    ['9.1.0', 'MySQL Community Server - GPL'],
    ['10.6.0-MariaDB', 'mariadb.org binary distribution'],
    ['11.4.2-MariaDB-ubu2404-log', 'mariadb.org binary distribution'],
  ])('MySQL or MariaDB that calls itself %s (%s) is not', async (version, comment) => {
    lookalike = await startMysqlLookalike((sql) => {
      if (!sql.startsWith('show')) return mysqlAnswers(version, comment)(sql);
      const settings = {
        sql_mode: 'STRICT_ALL_TABLES',
        character_set_connection: 'utf8mb4',
        innodb_flush_log_at_trx_commit: '1',
      };
      return Object.entries(settings).map(([Variable_name, Value]) => ({ Variable_name, Value }));
    });
    const store = mysqlPaymentStore({ connectionString: lookalike.url, migrate: false });
    expect(await problemOf(store)).toContain('the payment tables are missing');
  });

  test.each([
    'PostgreSQL 14.1 (Debian 14.1-1.pgdg110+1) on x86_64-pc-linux-gnu, compiled by gcc, 64-bit',
    'PostgreSQL 18.0 on x86_64-pc-linux-gnu',
    'PostgreSQL 15.12-YB-2025.1.0.0-b0 on x86_64-pc-linux-gnu',
    'PostgreSQL 15.12-YB-2026.2.0.0-b0 on x86_64-pc-linux-gnu',
  ])('%s is not', async (version) => {
    lookalike = await startPostgresLookalike(postgresAnswers(version, /^$/));
    const store = postgresPaymentStore({ connectionString: lookalike.url, migrate: false });
    expect(await problemOf(store)).toContain('the payment tables are missing');
  });
});

async function problemOf(store: Pick<SqlPaymentStore, 'open' | 'close'>): Promise<string> {
  const error: unknown = await store.open().catch((reason: unknown) => reason);
  await store.close();
  expect(error).toBeInstanceOf(Error);
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('password-of-the-shop');
  return (error as Error).message;
}
