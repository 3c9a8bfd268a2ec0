import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { openSqlStore, paymentSchema } from '../../../../../lib/store/sql/index.js';
import { postgresEngine } from '../../../../../lib/store/sql/engines/postgres.js';
import { SqlDatabase } from '../../../../../lib/store/sql/database.js';
import { StoreTrial } from '../../../contract/store-trial.js';
import { TestClock } from '../../../../../lib/testing/index.js';
import { type Postgres, startPostgres } from '../../../../services/postgres.js';

describe('on a server', () => {
  let postgres: Postgres;
  let url: string;
  let pool: pg.Pool;
  let database: SqlDatabase;

  beforeAll(async () => {
    postgres = await startPostgres();
  });
  beforeEach(async () => {
    url = await postgres.createDatabase();
    pool = new pg.Pool({ connectionString: url });
    database = new SqlDatabase(new Kysely({ dialect: new PostgresDialect({ pool }) }), postgresEngine);
  });
  afterEach(() => pool.end());
  afterAll(() => postgres.stop());

  const ask = async (text: string) => (await pool.query<Record<string, unknown>>(text)).rows;

  test('a store of its URL makes its tables, and has the time of the server', async () => {
    const store = await openSqlStore(url);
    await store.open();
    const [before] = await ask('select extract(epoch from clock_timestamp()) * 1000 as ms');
    const now = (await store.now()).getTime();
    const [after] = await ask('select extract(epoch from clock_timestamp()) * 1000 as ms');
    expect(now).toBeGreaterThanOrEqual(Math.floor(Number(before!.ms)));
    expect(now).toBeLessThanOrEqual(Number(after!.ms));
    const [applied] = await ask('select applied_at from card_payment_schema_version');
    expect(Math.abs(Number(applied!.applied_at) - now)).toBeLessThan(60_000);
    const trial = new StoreTrial(store, store, new TestClock());
    const handler = await trial.handler('payment.failed');
    await trial.announce(handler, 'payment.failed');
    const { event } = await trial.publish(await trial.insert(), 'failed', new Date());
    expect(await trial.drain(handler)).toEqual([event.eventId]);
    await store.close();
  });

  test.each([
    [
      'off',
      ['The payment store: synchronous_commit is off: a crash of the server can lose payments that were reported'],
    ],
    ['local', []],
  ])('with synchronous_commit %s it warns of what a crash loses', async (value, expected) => {
    await ask(`alter database ${new URL(url).pathname.slice(1)} set synchronous_commit = ${value}`);
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const store = await openSqlStore(url);
    await store.open();
    await store.close();
    expect(warn.mock.calls.map(([text]) => String(text).split(' as stored')[0])).toEqual(expected);
    warn.mockRestore();
  });

  test('keys are compared byte by byte', async () => {
    await pool.query(paymentSchema('postgres'));
    const collations = await ask(
      `select distinct collation_name from information_schema.columns
       where table_name like 'card\\_payment%' and column_name in ('account', 'conversation_id', 'state', 'event_id')`,
    );
    expect(collations).toEqual([{ collation_name: 'C' }]);
  });

  test('a table counts only where its name leads to it', async () => {
    const finds = async (name: string) => (await database.run(postgresEngine.hasTable(name))).length;
    await pool.query('create schema elsewhere; create table elsewhere.card_payment_schema_version (version integer)');
    expect(await finds('card_payment_schema_version')).toBe(0);
    await pool.query('create table card_payment_schema_version (version integer)');
    expect([await finds('card_payment_schema_version'), await finds('card_payment')]).toEqual([1, 0]);
  });

  test('transactions read what others have committed, and have limits, whatever the default of the database', async () => {
    const name = new URL(url).pathname.slice(1);
    await pool.query(`alter database ${name} set default_transaction_isolation = 'serializable'`);
    const strict = new pg.Pool({ connectionString: url });
    const limited = new SqlDatabase(new Kysely({ dialect: new PostgresDialect({ pool: strict }) }), postgresEngine);
    const settings = [
      'transaction_isolation',
      ...['statement', 'lock', 'idle_in_transaction_session'].map((one) => `${one}_timeout`),
    ];
    const found = await limited.transaction(async (db) => {
      const { rows } = await sql<Record<string, string>>`select ${sql.join(
        settings.map((setting) => sql`current_setting(${sql.lit(setting)}) as ${sql.ref(setting)}`),
      )}`.execute(db);
      return Object.values(rows[0]!);
    });
    expect(found).toEqual(['read committed', '10s', '5s', '10s']);
    await strict.end();
  });
});
