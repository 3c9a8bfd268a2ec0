import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { codeOf, openError } from '../../../../../lib/store/sql/errors.js';
import { openSqlStore, paymentSchema } from '../../../../../lib/store/sql/index.js';
import { postgresEngine } from '../../../../../lib/store/sql/engines/postgres.js';
import { SqlDatabase } from '../../../../../lib/store/sql/database.js';
import { StoreTrial } from '../../../contract/store-trial.js';
import { TestClock } from '../../../../../lib/testing/index.js';
import { type Postgres, startPostgres } from '../../../../services/postgres.js';

const coded = (code: string) => Object.assign(new Error('user:secret@host'), { code });
const said = (code: string) => openError(coded(code), postgresEngine).message;

describe('what its codes mean', () => {
  const UNREACHABLE = 'does not answer; is it running, and reachable from here?';

  test.each([
    ...['ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'EPIPE'].map((code) => [
      code,
      UNREACHABLE,
    ]),
    ['28000', 'refuses this user or password'],
    ['28P01', 'refuses this user or password'],
    ['3D000', 'has no such database'],
    ['42501', 'does not let this user make, read or write the payment tables'],
    ['25006', 'is read-only; is it a standby?'],
    ['53300', 'has too many connections already'],
    ['55P03', 'is being changed by another process that does not finish; try again'],
    ['57014', 'answers too slowly'],
    ['57P03', 'is starting up or shutting down'],
    ...['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID', 'EPROTO_SSL'].map((code) => [
      code,
      'has a TLS certificate that cannot be trusted',
    ]),
    ...['EPROTO', 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE'].map((code) => [
      code,
      'does not agree on TLS: 1.2 or 1.3, with forward secrecy',
    ]),
  ])('%s: %s', (code, meaning) => {
    expect(said(code)).toBe(`PostgreSQL ${meaning} (${code})`);
  });

  test.each(['3D000', '42501', '53300', '55P03', '57014', '57P03'])('%s means that as a whole only', (code) => {
    expect([said(`1${code}`), said(`${code}1`)]).toEqual([
      `PostgreSQL cannot be used (1${code})`,
      `PostgreSQL cannot be used (${code}1)`,
    ]);
  });

  test.each(['42830', 'XENOTFOUND', '1ECONN', 'XEPROTO'])('%s means nothing', (code) => {
    expect(said(code)).toBe(`PostgreSQL cannot be used (${code})`);
  });

  test('pg has no code for a connection that comes too late', () => {
    expect(openError(new Error('Timeout expired'), postgresEngine).message).toBe(
      `PostgreSQL ${UNREACHABLE} (ETIMEDOUT)`,
    );
    expect(openError(new Error('anything else'), postgresEngine).message).toBe('PostgreSQL cannot be used');
  });

  test.each([
    ['40P01', true],
    ['40001', true],
    ['23505', false],
    ['', false],
  ])('another process was in the way: %s, %s', (code, isBusy) => {
    expect(postgresEngine.isBusy(coded(code))).toBe(isBusy);
    expect(codeOf(coded(code))).toBe(code);
  });
});

test.each([
  ['postgres://host/db', true],
  ['postgresql://host/db', true],
  ['postgresq://host/db', false],
  ['postgres:host', false],
  ['jdbc:postgres://host/db', false],
])('its URLs: %s, %s', (url, isOwn) => {
  expect(postgresEngine.owns(url)).toBe(isOwn);
});

test('a URL that is none is refused, and not shown', async () => {
  await expect(postgresEngine.open('postgres://u:secret@')).rejects.toThrow(
    'a PostgreSQL URL looks like postgres://user:password@host:5432/database',
  );
  await expect(openSqlStore('oracle://u:secret@host')).rejects.toThrow(
    'a SQL store is sqlite:FILE, postgres://…, mysql://… or mariadb://…',
  );
});

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
    const [applied] = await ask('select applied_at from card_payment_schema');
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
    await pool.query('create schema elsewhere; create table elsewhere.card_payment_schema (version integer)');
    expect(await finds('card_payment_schema')).toBe(0);
    await pool.query('create table card_payment_schema (version integer)');
    expect([await finds('card_payment_schema'), await finds('card_payment')]).toEqual([1, 0]);
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
