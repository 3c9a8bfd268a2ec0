import type { MysqlPool, MysqlPoolConnection } from 'kysely';
import mysql from 'mysql2';
import type { Socket } from 'node:net';
import { isNativeError } from 'node:util/types';
import { withTimeout } from '../../../../../lib/payment/with-timeout.js';
import { BoundedMysqlPool } from '../../../../../lib/store/sql/engines/mysql/mysql-pool.js';
import { type MariaDb, queryMariaDb, startMariaDb } from '../../../../services/mariadb.js';
import { startTcpProxy, type TcpProxy } from '../../../../services/tcp-proxy.js';
import { until } from '../../../../services/until.js';

const LIMITS = { connectMs: 2_000, queryMs: 500, useMs: 800, pingMs: 300 };

let mariadb: MariaDb;
let proxy: TcpProxy;
let connections: mysql.Pool;
let pool: BoundedMysqlPool;
/** The sockets of all connections that were made. */
let sockets: Socket[];

describe('mysql pool bounded', () => {
  beforeAll(async () => {
    mariadb = await startMariaDb();
  });
  afterAll(() => mariadb.stop());
  beforeEach(async () => {
    proxy = await startTcpProxy({ port: Number(new URL(mariadb.url).port) });
    connections = mysql.createPool({
      uri: mariadb.url.replace(/:\d+\//, `:${proxy.port}/`),
      connectionLimit: 6,
      // Of a connection whose handshake is not answered; the module's own is ten seconds, as long as callers wait.
      connectTimeout: 1_000,
    });
    sockets = [];
    connections.on('connection', (one) => void sockets.push((one as unknown as { stream: Socket }).stream));
    pool = new BoundedMysqlPool(connections, { limits: LIMITS });
  });
  afterEach(async () => {
    proxy.release();
    // A connection that a failed test has kept is never given back: it ends with the proxy.
    await withTimeout(2_000, () => connections.promise().end()).catch(() => undefined);
    await proxy.stop();
  });

  const openSockets = () => sockets.filter(({ destroyed }) => !destroyed).length;

  const many = <T>(count: number, run: () => Promise<T>) => Promise.all(Array.from({ length: count }, run));

  test('an unanswered query costs its connection, and every other one that does not answer is replaced', async () => {
    await many(6, () => ask('select sleep(0.1)'));
    expect(openSockets()).toBe(6);
    proxy.hold();
    await expect(ask('select 1')).rejects.toThrow('there was no answer in time');
    await many(6, () => ask('select 1'));
    // Nothing is left of the silent ones, which would keep the process alive.
    await until(() => openSockets() === sockets.length - 6);
  });

  test('a connection that answers is kept', async () => {
    await many(3, () => ask('select sleep(0.1)'));
    await expect(ask('select sleep(5)')).rejects.toThrow('there was no answer in time');
    await many(3, () => ask('select 1'));
    await until(() => openSockets() === sockets.length - 1);
  });

  test('an error of the server costs no connection', async () => {
    await expect(ask('select none')).rejects.toMatchObject({ code: 'ER_BAD_FIELD_ERROR' });
    await ask('select 1');
    expect([sockets.length, openSockets()]).toEqual([1, 1]);
  });

  test('a caller that holds a connection for too long loses it, however many queries it runs', async () => {
    const connection = await connect();
    const manyQueries = async () => {
      for (let queries = 0; queries < 50; queries += 1) await query(connection, 'select sleep(0.2)');
    };
    const began = performance.now();
    await expect(manyQueries()).rejects.toThrow(/no answer in time|in use for too long/);
    expect(performance.now() - began).toBeLessThan(10_000);
    await expect(query(connection, 'select 1')).rejects.toThrow('the connection is gone');
    connection.release();
    await until(() => openSockets() === 0);
  });

  test('a caller that gets no connection in time stops waiting, and the pool keeps all connections', async () => {
    const taken = await many(6, () => connections.promise().getConnection());
    await expect(connect()).rejects.toThrow('there was no answer in time');
    taken.forEach((connection) => connection.release());
    await many(6, () => ask('select 1'));
    expect([sockets.length, openSockets()]).toEqual([6, 6]);
  });

  test('new connections that are not answered cost no place in the pool', async () => {
    proxy.holdNew();
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => ask('select 1')));
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']));
    proxy.release();
    await many(6, () => ask('select 1'));
  });

  test('a connection that falls silent while its session is set up costs no place in the pool', async () => {
    let isSilent = true;
    const silentAtFirst = () => (isSilent ? new Promise<void>(() => undefined) : Promise.resolve());
    const prepared = new BoundedMysqlPool(connections, { prepare: silentAtFirst, limits: LIMITS });
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => ask('select 1', prepared)));
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']));
    await until(() => openSockets() === 0);
    isSilent = false;
    await many(6, () => ask('select 1', prepared));
  });

  test('what the server says against the set-up of a session is passed on, and the connection is closed', async () => {
    const refusing = new BoundedMysqlPool(connections, {
      prepare: () => Promise.reject(Object.assign(new Error('no'), { errno: 1231, sqlState: '42000' })),
      limits: LIMITS,
    });
    await expect(ask('select 1', refusing)).rejects.toMatchObject({ errno: 1231 });
    await until(() => openSockets() === 0);
  });

  test('connections that are killed fail what runs on them, or nothing, and not the process', async () => {
    const connection = await connect();
    const ids = async () =>
      await queryMariaDb(
        mariadb.url,
        'select id from information_schema.processlist where id <> connection_id() and db is not null',
      );
    const kill = async () => {
      for (const { id } of await ids()) {
        await queryMariaDb(mariadb.url, `kill ${id}`).catch((error: { code?: string }) => {
          // It has ended by itself meanwhile.
          if (error.code !== 'ER_NO_SUCH_THREAD') throw error;
        });
      }
    };
    const running = expect(query(connection, 'select sleep(5)')).rejects.toThrow();
    await until(async () => (await ids()).length === 1);
    await kill();
    await running;
    connection.release();
    await ask('select 1');
    // This one is idle.
    await kill();
    await until(() => openSockets() === 0);
    await ask('select 1');
  });

  test('a query that is too long for the server costs its connection alone', async () => {
    await queryMariaDb(mariadb.url, 'set global max_allowed_packet = 16384');
    // The server may close it before the whole query has been sent.
    await expect(ask(`select '${'x'.repeat(100_000)}'`)).rejects.toThrow();
    await many(6, () => ask('select 1'));
    await queryMariaDb(mariadb.url, 'set global max_allowed_packet = default');
  });

  test.each([
    ['the server shuts down', { errno: 1053, sqlState: '08S01' }],
    ['it was killed', { errno: 1927, sqlState: '70100' }],
    ['it was idle for too long', { errno: 4031, sqlState: 'HY000' }],
    ['the query was too long', { errno: 1153, sqlState: '08S01' }],
    ['the server is read-only', { errno: 1290, sqlState: 'HY000' }],
    ['the server is read-only (MySQL)', { errno: 1836, sqlState: 'HY000' }],
    ['transactions are read-only', { errno: 1792, sqlState: '25006' }],
    ['the node is no part of its cluster', { errno: 1047, sqlState: '08S01' }],
    ['it is lost', { code: 'PROTOCOL_CONNECTION_LOST', fatal: true }],
    ['the network fails', { code: 'ECONNRESET', errno: -104, fatal: true }],
  ])('a connection is not used again when %s', async (_why, error) => {
    const { pool: failing, ended } = failingPool(error);
    await expect(ask('select 1', failing)).rejects.toMatchObject(error);
    expect(ended).toEqual(['closed']);
  });

  test.each([
    ['a key is taken', { errno: 1062, sqlState: '23000' }],
    ['a lock is not had in time', { errno: 1205, sqlState: 'HY000' }],
    ['there is a deadlock', { errno: 1213, sqlState: '40001' }],
    ['the query is interrupted', { errno: 1317, sqlState: '70100' }],
    ['the query took too long', { errno: 1969, sqlState: '70100' }],
  ])('a connection goes on when %s', async (_why, error) => {
    const { pool: failing, ended } = failingPool(error);
    await expect(ask('select 1', failing)).rejects.toMatchObject(error);
    expect(ended).toEqual(['released']);
  });
});

function connect(from = pool): Promise<MysqlPoolConnection> {
  return new Promise((resolve, reject) => {
    from.getConnection((error, connection) => (isNativeError(error) ? reject(error) : resolve(connection)));
  });
}

function query(connection: MysqlPoolConnection, sql: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    connection.query(sql, [], (error, result) => (isNativeError(error) ? reject(error) : resolve(result)));
  });
}

async function ask(sql: string, from = pool): Promise<unknown> {
  const connection = await connect(from);
  try {
    return await query(connection, sql);
  } finally {
    connection.release();
  }
}

/** A pool of one connection, whose query fails with that. */
function failingPool(error: object): { readonly pool: BoundedMysqlPool; readonly ended: string[] } {
  const ended: string[] = [];
  const connection = {
    query: (_sql: string, _parameters: unknown[], callback: (error: unknown) => void) =>
      callback(Object.assign(new Error('no'), error)),
    release: () => void ended.push('released'),
    destroy: () => void ended.push('closed'),
  };
  const failing = {
    getConnection: (callback: (error: unknown, connection: unknown) => void) => callback(null, connection),
    end: () => undefined,
  };
  return { pool: new BoundedMysqlPool(failing as unknown as MysqlPool, { limits: LIMITS }), ended };
}
