import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { BoundedPool } from '../../../../../lib/store/sql/engines/postgres/postgres-pool.js';
import type { PaymentTables } from '../../../../../lib/store/sql/payment-tables.js';
import { postgresEngine } from '../../../../../lib/store/sql/engines/postgres/postgres.engine.js';
import { SqlDatabase } from '../../../../../lib/store/sql/sql-database.js';
import { withTimeout } from '../../../../../lib/payment/with-timeout.js';
import { type Postgres, startPostgres } from '../../../../services/postgres.js';
import { startTcpProxy, type TcpProxy } from '../../../../services/tcp-proxy.js';

const LIMITS = { connectMs: 2_000, queryMs: 500, useMs: 800, pingMs: 300 };

let postgres: Postgres;
let proxy: TcpProxy;
let connections: pg.Pool;
let pool: BoundedPool;

describe('postgres pool bounded', () => {
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.stop());
  beforeEach(async () => {
    proxy = await startTcpProxy({ port: Number(new URL(postgres.url).port) });
    connections = new pg.Pool({ connectionString: postgres.url.replace(/:\d+\//, `:${proxy.port}/`), max: 6 });
    connections.on('error', () => undefined);
    pool = new BoundedPool(connections, LIMITS);
  });
  afterEach(async () => {
    proxy.release();
    // A connection that a failed test has kept is never given back: it ends with the proxy.
    await withTimeout(2_000, () => connections.end()).catch(() => undefined);
    await proxy.stop();
  });

  test('an unanswered query costs its connection, and every other one that does not answer is replaced', async () => {
    await Promise.all(Array.from({ length: 6 }, () => ask('select pg_sleep(0.1)')));
    expect(connections.totalCount).toBe(6);
    proxy.hold();
    await expect(ask('select 1')).rejects.toThrow('there was no answer in time');
    await Promise.all(Array.from({ length: 6 }, () => ask('select 1')));
  });

  test('a connection that answers is kept', async () => {
    let removed = 0;
    connections.on('remove', () => (removed += 1));
    await Promise.all(Array.from({ length: 3 }, () => ask('select pg_sleep(0.1)')));
    const client = await pool.connect();
    await expect(client.query('select pg_sleep(5)', [])).rejects.toThrow('there was no answer in time');
    client.release();
    await Promise.all(Array.from({ length: 3 }, () => ask('select 1')));
    expect(removed).toBe(1);
  });

  test('a connection that Kysely calls broken is closed, and the options of the pool are to be seen', async () => {
    const client = (await pool.connect()) as { release(isBroken: boolean): void };
    client.release(true);
    expect(connections.totalCount).toBe(0);
    expect(pool.options).toBe(connections.options);
  });

  test('an error of the server costs no connection', async () => {
    await expect(ask('select 1 / 0')).rejects.toMatchObject({ code: '22012' });
    await ask('select 1');
    expect(connections.totalCount).toBe(1);
  });

  test('a caller that holds a connection for too long loses it, however many queries it runs', async () => {
    const client = await pool.connect();
    const manyQueries = async () => {
      for (let queries = 0; queries < 50; queries += 1) await client.query('select pg_sleep(0.2)', []);
    };
    const began = performance.now();
    await expect(manyQueries()).rejects.toThrow(/no answer in time|in use for too long/);
    expect(performance.now() - began).toBeLessThan(10_000);
    await expect(client.query('select 1', [])).rejects.toThrow('the connection is gone');
    client.release();
    expect(connections.idleCount).toBe(0);
  });

  test('a caller that gets no connection in time stops waiting, and the pool keeps all connections', async () => {
    const taken = await Promise.all(Array.from({ length: 6 }, () => connections.connect()));
    await expect(pool.connect()).rejects.toThrow('there was no answer in time');
    taken.forEach((client) => client.release());
    await Promise.all(Array.from({ length: 6 }, () => ask('select 1')));
  });

  test('a connection that breaks while it is in use fails what runs on it, and not the process', async () => {
    const client = await pool.connect();
    const other = new pg.Client({ connectionString: postgres.url });
    await other.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid', []);
    await other.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
    await expect(client.query('select 1', [])).rejects.toThrow();
    client.release();
    await other.end();
    await ask('select 1');
  });

  test.each(['57P01', '57P02', '57P03', '57P05', '08006'])(
    'a connection that the server ends with %s is not used again',
    async (code) => {
      const { pool: failing, released } = failingPool({ severity: 'FATAL', code });
      const client = await failing.connect();
      await expect(client.query('select 1', [])).rejects.toMatchObject({ code });
      client.release();
      expect(released).toEqual([true]);
    },
  );

  test.each(['23505', '57014', '40P01'])('a connection over which the server says %s goes on', async (code) => {
    const { pool: failing, released } = failingPool({ severity: 'ERROR', code });
    const client = await failing.connect();
    await expect(client.query('select 1', [])).rejects.toMatchObject({ code });
    expect(released).toEqual([]);
    client.release();
    expect(released).toEqual([false]);
  });

  test('a transaction over a given pool has the limits', async () => {
    const db = new Kysely<PaymentTables>({ dialect: new PostgresDialect({ pool }) });
    const names = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
    const settings = names.map((name) => `current_setting('${name}') as ${name}`).join(', ');
    const database = new SqlDatabase(db, postgresEngine);
    const limits = await database.transaction((one) => database.run({ sql: `select ${settings}` }, one));
    expect(limits).toEqual([
      { statement_timeout: '10s', lock_timeout: '5s', idle_in_transaction_session_timeout: '10s' },
    ]);
  });
});

async function ask(sql: string): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query(sql, []);
  } finally {
    client.release();
  }
}

/** A pool of one connection, whose query fails with that. */
function failingPool(error: object): { readonly pool: BoundedPool; readonly released: (boolean | undefined)[] } {
  const released: (boolean | undefined)[] = [];
  const client = {
    query: () => Promise.reject(Object.assign(new Error('no'), error)),
    release: (isBroken?: boolean) => void released.push(isBroken),
  };
  const connections = { connect: () => Promise.resolve(client), end: () => Promise.resolve() } as unknown as pg.Pool;
  return { pool: new BoundedPool(connections, LIMITS), released };
}
