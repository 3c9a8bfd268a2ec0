import type { KyselyPlugin, MysqlPool, MysqlPoolConnection, MysqlQueryResult, QueryResult } from 'kysely';
import { withTimeout } from '../../../runtime/clock.js';
import { boundedAccess, type DriverPool, LIMITS, type OpenPool, OWN_POOL } from '../bounded-driver.js';
import type { SqlAccess, SqlEngine } from '../engine.js';
import { codeOf, importDriver } from '../errors.js';
import { checkMysqlHost, checkMysqlServer, checkMysqlVersion } from './mysql-server.js';
import { mysqlAddress, unprotectedMysqlHost } from './mysql-url.js';

type Kysely = typeof import('kysely');

const ALREADY_THERE: ReadonlySet<string> = new Set(['ER_TABLE_EXISTS_ERROR', 'ER_DUP_FIELDNAME', 'ER_DUP_KEYNAME']);
const BUSY: ReadonlySet<string> = new Set([
  'ER_LOCK_DEADLOCK',
  'ER_LOCK_WAIT_TIMEOUT',
  // MariaDB with innodb_snapshot_isolation, which is on since 11.6: a row was changed while the statement waited for
  // it.
  'ER_CHECKREAD',
  // Group Replication: another member has changed the same rows, and the transaction is undone.
  'ER_TRANSACTION_ROLLBACK_DURING_COMMIT',
]);

const DENIED =
  'does not let this user make, read or write the payment tables; grant it CREATE, INDEX, SELECT, INSERT, UPDATE and ' +
  'DELETE on its database';

/** MySQL by mysql2. */
export const mysqlEngine = {
  name: 'mysql' as const,
  displayName: 'MySQL',

  urlForm: 'mysql://…',
  owns: (url) => /^mysql:\/\/./.test(url),
  driver: 'mysql2',
  access: (library, url) => mysqlAccess(library, url),

  server: {
    port: 3306,
    tlsOption: 'ssl=true',
    unprotectedHost: unprotectedMysqlHost,
    check: checkMysqlServer,
  },

  schema: {
    // Every collation of texts that both databases know ignores spaces at the end.
    keyType: (maxBytes) => `varbinary(${maxBytes})`,
    jsonType: 'longtext character set utf8mb4 collate utf8mb4_bin',
    tableEnd: () => ' engine=innodb',
    indexOf: () => '',
    isTransactional: false,
    now: 'floor(unix_timestamp(now(3)) * 1000)',
  },
  // The same throughout a statement, and of no time zone.
  time: `(timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) div 1000)`,
  hasTable: (table) => ({
    sql: 'select 1 from information_schema.tables where table_schema = database() and table_name = ?',
    parameters: [table],
  }),

  // Limits cannot be set for one transaction. A session of the store's own has them; a host's is left as it is.
  begin: (hasLimitedSession) =>
    hasLimitedSession ? ['start transaction'] : ['set transaction isolation level read committed', 'start transaction'],
  sharesCommits: false,
  locksRows: true,
  orOverwrite: (column) => `on duplicate key update ${column} = values(${column})`,
  indexHint: (index) => `force index (${index})`,
  asTexts: textsOfBytes(),

  isBusy: (error) => BUSY.has(codeOf(error)),
  isTaken: (error) => codeOf(error) === 'ER_DUP_ENTRY',
  isThere: (error) => ALREADY_THERE.has(codeOf(error)),

  failures: [
    [
      /^(ECONN|ENOTFOUND|ENOENT|EAI_|EHOST|ENET|ETIMEDOUT|EPIPE|PROTOCOL_CONNECTION_LOST)/,
      'does not answer; is it running, and reachable from here?',
    ],
    // MariaDB says so, too, where the server or the user requires TLS.
    [
      /^ER_ACCESS_DENIED(_NO_PASSWORD)?_ERROR$/,
      'refuses this user or password; if it takes connections by TLS alone, put ssl=true into the URL',
    ],
    [/^ER_HOST_NOT_PRIVILEGED$/, 'does not let this host in; make a user for it'],
    [/^ER_HOST_IS_BLOCKED$/, 'has blocked this host after failed connections; run FLUSH HOSTS on it'],
    [
      /^(AUTH_SWITCH_PLUGIN_ERROR|ER_NOT_SUPPORTED_AUTH_MODE)$/,
      'wants a log-in that mysql2 does not know; give this user caching_sha2_password or mysql_native_password',
    ],
    [/^ER_BAD_DB_ERROR$/, 'has no such database; create it first'],
    [/^ER_DBACCESS_DENIED_ERROR$/, `${DENIED}; or does the URL name another one?`],
    [/^ER_(TABLEACCESS_DENIED_ERROR|SPECIFIC_ACCESS_DENIED_ERROR)$/, DENIED],
    [
      /^ER_(CON_COUNT_ERROR|TOO_MANY_USER_CONNECTIONS|USER_LIMIT_REACHED)$/,
      'has too many connections already; raise its max_connections, or the limit of this user',
    ],
    [/^ER_UNKNOWN_COM_ERROR$/, 'is not ready: this node is no part of its cluster'],
    [
      /^ER_(OPTION_PREVENTS_STATEMENT|READ_ONLY_MODE|CANT_EXECUTE_IN_READ_ONLY_TRANSACTION)$/,
      'is read-only; is it a replica?',
    ],
    [/^ER_LOCK_WAIT_TIMEOUT$/, 'is being changed by another process that does not finish; try again'],
    [/^ER_(STATEMENT_TIMEOUT|QUERY_TIMEOUT)$/, 'answers too slowly'],
    [/^ER_SECURE_TRANSPORT_REQUIRED$/, 'takes connections by TLS alone; put ssl=true into the URL'],
    [/^HANDSHAKE_NO_SSL_SUPPORT$/, 'has no TLS, and the URL asks for it by ssl; give it a certificate'],
    [/^EPROTO$/, 'does not agree on TLS: 1.2 or 1.3, with forward secrecy'],
    [/^HANDSHAKE_SSL_ERROR$/, 'does not agree on TLS, or has a certificate that cannot be trusted'],
    [
      /^ERR_TLS_CERT_ALTNAME_INVALID$/,
      'has a TLS certificate for another host; put the host that it names into the URL',
    ],
    [
      /^ERR_TLS_CERT_UNTRUSTED$/,
      'has a TLS certificate that cannot be trusted; put ssl=FILE into the URL, the file of the authority that signed it',
    ],
  ],
  uncodedFailures: [[/timeout/i, 'ETIMEDOUT']],
} satisfies SqlEngine;

/** MariaDB by mysql2. */
export const mariadbEngine = {
  ...mysqlEngine,
  name: 'mariadb' as const,
  displayName: 'MariaDB',
  urlForm: 'mariadb://…',
  owns: (url: string) => /^mariadb:\/\/./.test(url),
} satisfies SqlEngine;

/** Keys are columns of bytes. */
function textsOfBytes(): KyselyPlugin {
  return {
    transformQuery: ({ node }) => node,
    transformResult: ({ result }) => {
      for (const row of result.rows) {
        for (const [name, value] of Object.entries(row)) {
          if (value instanceof Uint8Array) row[name] = Buffer.from(value).toString('utf8');
        }
      }
      return Promise.resolve(result);
    },
  };
}

/** Reaches the database of a URL over a pool of connections that is made at the first query. */
export function mysqlAccess(kysely: Kysely, url: string, max = OWN_POOL.connections): SqlAccess {
  const address = mysqlAddress(url);
  const open: OpenPool<MysqlConnection> = async () => {
    checkMysqlHost(address.host ?? '');
    const { createPool } = await importDriver('mysql2', () => import('mysql2'));
    const made = createPool({
      ...address,
      connectionLimit: max,
      connectTimeout: OWN_POOL.connectMs,
      enableKeepAlive: true,
      keepAliveInitialDelay: OWN_POOL.keepAliveDelayMs,
      charset: 'utf8mb4_bin',
      multipleStatements: true,
    });
    return driverPoolOf(made, prepareSession);
  };
  return boundedAccess(kysely, 'Mysql', open, () => true);
}

/** Reaches the database of a pool that is given. */
export function mysqlPoolAccess(kysely: Kysely, pool: MysqlPool, limits = LIMITS): SqlAccess {
  const open: OpenPool<MysqlConnection> = () => Promise.resolve(driverPoolOf(pool));
  return boundedAccess(kysely, 'Mysql', open, () => false, limits);
}

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

/** What a connection of mysql2 has beyond what Kysely needs. */
interface MysqlConnection extends MysqlPoolConnection {
  /** Takes it out of the pool, even while a query runs on it. */
  destroy(): void;
  readonly stream?: { destroy(): unknown };
}

/** @param prepare is done with each new connection before its first use */
function driverPoolOf(
  pool: MysqlPool,
  prepare?: (connection: MysqlConnection) => Promise<void>,
): DriverPool<MysqlConnection> {
  const prepared = new WeakSet<MysqlConnection>();
  return {
    emitter: pool,
    newConnection: 'connection',
    async acquire() {
      const connection = await acquire(pool);
      if (!prepare || prepared.has(connection)) return connection;
      try {
        // Without a limit, one that falls silent now would keep its place in the pool for good.
        await withTimeout(LIMITS.connectMs, () => prepare(connection));
      } catch (error) {
        close(connection);
        throw error;
      }
      prepared.add(connection);
      return connection;
    },
    query: async (connection, sql, parameters) => queryResultOf(await ask(connection, sql, parameters)),
    release: (connection, isBroken) => (isBroken ? close(connection) : connection.release()),
    isAnswer,
    end: () =>
      new Promise((resolve, reject: (error: Error) => void) => {
        pool.end((error) => (error ? reject(error as Error) : resolve()));
      }),
  };
}

/**
 * The driver only says goodbye, and waits for the server to close: with one that has vanished, for a quarter of an
 * hour.
 */
function close(connection: MysqlConnection): void {
  connection.destroy();
  connection.stream?.destroy();
}

function acquire(pool: MysqlPool): Promise<MysqlConnection> {
  return new Promise((resolve, reject) => {
    pool.getConnection((error, connection) =>
      error ? reject(withTlsCode(error)) : resolve(connection as MysqlConnection),
    );
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

/** How values are read, whatever the options of a pool say that its owner has made for other queries. */
const READ_PLAINLY = {
  rowsAsArray: false,
  nestTables: false,
  typeCast: (_field: unknown, read: () => unknown) => read(),
};

function ask(connection: MysqlConnection, sql: string, parameters: readonly unknown[]): Promise<MysqlQueryResult> {
  return new Promise((resolve, reject: (error: Error) => void) => {
    // The driver also takes an object with options, of which Kysely's type does not know.
    connection.query({ ...READ_PLAINLY, sql } as unknown as string, [...parameters], (error, result) =>
      error ? reject(error as Error) : resolve(result),
    );
  });
}

function queryResultOf(result: MysqlQueryResult): QueryResult<unknown> {
  if (Array.isArray(result)) return { rows: result };
  return { rows: [], numAffectedRows: BigInt((result as { readonly affectedRows: number }).affectedRows) };
}

/** A server that only looks like MySQL may refuse the settings: then it is named. */
async function prepareSession(connection: MysqlConnection): Promise<void> {
  try {
    const names = Object.keys(SESSION_WHERE_KNOWN).map((name) => `'${name}'`);
    const known = (await ask(
      connection,
      `show session variables where variable_name in (${names.join(', ')})`,
      [],
    )) as { readonly Variable_name: string }[];
    const found = new Set(known.map(({ Variable_name: name }) => name.toLowerCase()));
    await ask(connection, sessionOf(found), []);
  } catch (error) {
    if (isAnswer(error)) await checkMysqlVersion(async ({ sql }) => (await ask(connection, sql, [])) as unknown[]);
    throw error;
  }
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
