import type { MysqlDialect, MysqlPool, MysqlPoolConnection, MysqlQueryResult } from 'kysely';
import { withTimeout } from '../../../../payment/with-timeout.js';
import {
  type BoundedConnection,
  BoundedConnections,
  type DriverPool,
  POOL_LIMITS,
  type PoolLimits,
} from '../../bounded-connections.js';
import { codeOf, importDriver } from '../../driver-errors.js';
import type { SqlAccess } from '../../sql-engine.js';
import { mysqlAddress } from './mysql-url.js';
import { checkMysqlHost, checkMysqlVersion } from './server-check.js';

export const MYSQL_PACKAGES = 'kysely mysql2';

const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_DELAY_MS = 10_000;
const DEFAULT_CONNECTIONS = 10;

/** What the session of each connection is set to, whatever the server's defaults are. */
const SESSION = [
  `sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'`,
  'autocommit = 1',
  `time_zone = '+00:00'`,
  // No client may cut what is read, refuse a delete, or begin the next transaction with each commit.
  'sql_select_limit = 18446744073709551615',
  'sql_big_selects = 1',
  'sql_safe_updates = 0',
  'completion_type = 0',
  'innodb_lock_wait_timeout = 5',
  // For changes of the schema: while one waits for a transaction that uses its table, all others wait for it.
  'lock_wait_timeout = 5',
];

/** Limits and guarantees that only some servers have, with their values. */
const SESSION_WHERE_KNOWN: Readonly<Record<string, string>> = {
  /** MariaDB, in seconds. */
  max_statement_time: '10',
  idle_transaction_timeout: '10',
  /** MariaDB: a statement that waited for a row reads what has been committed by then. */
  innodb_snapshot_isolation: '0',
  /** MySQL, in milliseconds, for queries. */
  max_execution_time: '10000',
  /** Galera: reads wait for what other nodes have committed. */
  wsrep_sync_wait: '7',
};

/**
 * MySQL has no limit for a transaction that stands still. The server ends the connection of a process that is frozen in
 * the middle of one, and with it the transaction. Unused connections it ends, too; the pool makes new ones.
 */
const WHERE_TRANSACTIONS_MAY_STAND_STILL = 'wait_timeout = 60';

/** Whether what is written goes to the other nodes of a Galera cluster. */
const CLUSTER_SWITCH = 'wsrep_on';

/** Reaches the database of a URL over a pool of connections that is made at the first query. */
export function mysqlAccess(Dialect: typeof MysqlDialect, url: string, max = DEFAULT_CONNECTIONS): SqlAccess {
  const address = mysqlAddress(url);
  // Until a session says otherwise.
  let isInCluster = true;
  const pool = async (): Promise<MysqlPool> => {
    checkMysqlHost(address.host ?? '');
    const { createPool } = await importDriver(MYSQL_PACKAGES, () => import('mysql2'));
    const made = createPool({
      ...address,
      connectionLimit: max,
      connectTimeout: CONNECT_TIMEOUT_MS,
      enableKeepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_DELAY_MS,
      charset: 'utf8mb4_bin',
      multipleStatements: true,
    });
    return new BoundedMysqlPool(made, {
      prepare: async (connection) => {
        isInCluster = await prepareSession(connection);
      },
    });
  };
  // When another node's write undoes a transaction, Galera may go on with the statements that follow in the same query,
  // outside the transaction.
  return { dialect: new Dialect({ pool }), hasLimitedSessions: () => true, takesScripts: () => !isInCluster };
}

/** What a connection of mysql2 has beyond what Kysely needs. */
export interface MysqlConnection extends MysqlPoolConnection {
  /** Takes it out of the pool, even while a query runs on it. */
  destroy(): void;
  readonly stream?: { destroy(): unknown };
  on(event: 'error', listener: () => void): unknown;
}

interface DriverMysqlPool extends MysqlPool {
  getConnection(callback: (error: unknown, connection: MysqlConnection) => void): void;
  on?(event: 'connection', act: (connection: MysqlConnection) => void): unknown;
}

/** How the connections of a pool are used. */
interface PoolUse {
  /** What is done with each new connection before its first use; nothing unless given. */
  readonly prepare?: (connection: MysqlConnection) => Promise<void>;
  readonly ask?: Ask;
  readonly limits?: PoolLimits;
}

type Bounded = BoundedConnection<MysqlConnection, MysqlQueryResult>;

/** A pool of mysql2, its own or one that is given, whose callers wait for a limited time. */
export class BoundedMysqlPool implements MysqlPool {
  private readonly connections: BoundedConnections<MysqlConnection, MysqlQueryResult>;

  constructor(
    private readonly pool: MysqlPool,
    { prepare = () => Promise.resolve(), ask = askAsConfigured, limits = POOL_LIMITS }: PoolUse = {},
  ) {
    const use = { prepare, ask, limits };
    this.connections = new BoundedConnections(driverPoolOf(pool as DriverMysqlPool, use), limits);
  }

  getConnection(callback: (error: unknown, connection: MysqlPoolConnection) => void): void {
    this.connections.connect().then(
      (bounded) => callback(null, new BoundedMysqlConnection(bounded)),
      (error: unknown) => callback(error, undefined as unknown as MysqlPoolConnection),
    );
  }

  end(callback: (error: unknown) => void): void {
    this.pool.end(callback);
  }
}

function driverPoolOf(
  pool: DriverMysqlPool,
  { prepare, ask, limits }: Required<PoolUse>,
): DriverPool<MysqlConnection, MysqlQueryResult> {
  const prepared = new WeakSet<MysqlConnection>();
  listenToNewConnections(pool);
  return {
    async acquire() {
      const connection = await acquire(pool);
      if (prepared.has(connection)) return connection;
      try {
        // Without a limit, one that falls silent now would keep its place in the pool for good.
        await withTimeout(limits.connectMs, () => prepare(connection));
      } catch (error) {
        close(connection);
        throw error;
      }
      prepared.add(connection);
      return connection;
    },
    query: ask,
    release: (connection, isBroken) => (isBroken ? close(connection) : connection.release()),
    isAnswer,
    idleCount: () => idleCountOf(pool),
  };
}

/** The driver only says goodbye, and waits for the server to close: with one that has vanished, for a quarter of an hour. */
function close(connection: MysqlConnection): void {
  connection.destroy();
  connection.stream?.destroy();
}

const listenedTo = new WeakSet<DriverMysqlPool>();

/** An idle connection that breaks is replaced; without a listener, a second error of it would end the process. */
function listenToNewConnections(pool: DriverMysqlPool): void {
  if (listenedTo.has(pool)) return;
  listenedTo.add(pool);
  pool.on?.('connection', (connection) => connection.on('error', ignore));
}

function acquire(pool: DriverMysqlPool): Promise<MysqlConnection> {
  return new Promise((resolve, reject) => {
    pool.getConnection((error, connection) => (error ? reject(withTlsCode(error)) : resolve(connection)));
  });
}

const TLS_FAILURES: readonly (readonly [text: RegExp, code: string])[] = [
  [/altnames/i, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  [/certificate/i, 'ERR_TLS_CERT_UNTRUSTED'],
  [/./s, 'EPROTO'],
];

/** mysql2 gives every failure of TLS the same code. */
function withTlsCode(error: unknown): Error {
  const { message } = Object(error) as { readonly message?: unknown };
  if (codeOf(error) !== 'HANDSHAKE_SSL_ERROR') return error as Error;
  const [, code] = TLS_FAILURES.find(([text]) => text.test(String(message))) ?? [];
  return Object.assign(new Error('there is no connection by TLS'), { code });
}

type Ask = (
  connection: MysqlConnection,
  sql: string | object,
  parameters: readonly unknown[],
) => Promise<MysqlQueryResult>;

const askAsConfigured: Ask = (connection, sql, parameters) =>
  new Promise((resolve, reject: (error: Error) => void) => {
    // The driver also takes an object with options, of which Kysely's type does not know.
    connection.query(sql as string, [...parameters], (error, result) =>
      error ? reject(error as Error) : resolve(result),
    );
  });

/** How values are read, whatever the options of a pool say that its owner has made for other queries. */
const READ_PLAINLY = {
  rowsAsArray: false,
  nestTables: false,
  typeCast: (_field: unknown, read: () => unknown) => read(),
};

/** Asks over a connection of a pool that was given. */
export const askPlainly: Ask = (connection, sql, values) =>
  askAsConfigured(connection, { ...READ_PLAINLY, sql }, values);

/** mysql2 does not count them; where it keeps them otherwise one day, dead ones are found when they are used. */
function idleCountOf(pool: object): number {
  const { _freeConnections: free } = pool as { readonly _freeConnections?: { readonly length?: unknown } };
  return typeof free?.length === 'number' ? free.length : 0;
}

/**
 * A server that only looks like MySQL may refuse the settings: then it is named.
 * @returns whether the server is a node of a Galera cluster
 */
async function prepareSession(connection: MysqlConnection): Promise<boolean> {
  try {
    return await setSession(connection);
  } catch (error) {
    if (isAnswer(error)) {
      await checkMysqlVersion(async ({ sql }) => (await askAsConfigured(connection, sql, [])) as unknown[]);
    }
    throw error;
  }
}

async function setSession(connection: MysqlConnection): Promise<boolean> {
  const names = [...Object.keys(SESSION_WHERE_KNOWN), CLUSTER_SWITCH];
  const known = (await askAsConfigured(
    connection,
    `show session variables where variable_name in (${names.map((name) => `'${name}'`).join(', ')})`,
    [],
  )) as { readonly Variable_name: string; readonly Value: string }[];
  const found = new Map(known.map(({ Variable_name: name, Value: value }) => [name.toLowerCase(), value]));
  await askAsConfigured(connection, sessionOf(found), []);
  return found.get(CLUSTER_SWITCH) === 'ON';
}

/** @param known the settings that the server has */
export function sessionOf(known: Pick<ReadonlySet<string>, 'has'>): string {
  const assignments = Object.entries(SESSION_WHERE_KNOWN)
    .filter(([name]) => known.has(name))
    .map(([name, value]) => `${name} = ${value}`);
  if (!known.has('idle_transaction_timeout')) assignments.push(WHERE_TRANSACTIONS_MAY_STAND_STILL);
  return [
    'set names utf8mb4 collate utf8mb4_bin',
    'set session transaction isolation level read committed, read write',
    `set session ${[...SESSION, ...assignments].join(', ')}`,
  ].join('; ');
}

type QueryCallback = (error: unknown, result: MysqlQueryResult) => void;

class BoundedMysqlConnection implements MysqlPoolConnection {
  constructor(private readonly bounded: Bounded) {}

  readonly query = ((sql: string, parameters: unknown[], callback?: QueryCallback) => {
    if (!callback) return this.bounded.connection.query(sql, parameters);
    return this.bounded.query(sql, parameters).then(
      (result) => callback(null, result),
      (error: unknown) => callback(error, []),
    );
  }) as MysqlPoolConnection['query'];

  release(): void {
    this.bounded.release();
  }
}

/**
 * Errors with which the server ends the connection, or after which another server should be asked: it shuts down, the
 * connection was killed, has been idle for too long or sent too much at once, it is no part of its cluster, or only a
 * replica now.
 */
const ENDS_CONNECTION: ReadonlySet<number> = new Set([1047, 1053, 1153, 1290, 1792, 1836, 1927, 4031]);

function isAnswer(error: unknown): boolean {
  const { errno, sqlState, fatal } = Object(error) as { errno?: unknown; sqlState?: unknown; fatal?: unknown };
  const isFromServer = typeof errno === 'number' && typeof sqlState === 'string' && fatal !== true;
  return isFromServer && !ENDS_CONNECTION.has(errno);
}

function ignore(): void {
  // The query that runs on this connection rejects with the error.
}
