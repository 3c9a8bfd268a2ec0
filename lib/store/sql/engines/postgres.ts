import type { PostgresPool, PostgresPoolClient, PostgresQueryResult, QueryResult } from 'kysely';
import type { Client, ClientConfig, PoolConfig } from 'pg';
import { looksAtNoCertificate, STRONG_TLS } from '../../../runtime/network.js';
import { withTimeout } from '../../../runtime/clock.js';
import { boundedAccess, type DriverPool, LIMITS, type OpenPool, OWN_POOL } from '../bounded-driver.js';
import type { Environment, SqlAccess, SqlEngine } from '../engine.js';
import { codeOf, ESCAPES_IN_URLS, importDriver, ShownError, unescaped } from '../errors.js';
import { checkPostgresHost, checkPostgresServer } from './postgres-server.js';

type Kysely = typeof import('kysely');

/**
 * PostgreSQL's own limits, in milliseconds. Those of `BoundedDriver` are longer, for servers that do not answer.
 */
export const SESSION_LIMITS = {
  statement_timeout: 10_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 10_000,
};

/** With these, pg uses TLS, and checks the certificate unless `uselibpqcompat` tells it not to. */
const TLS_MODES: ReadonlySet<string> = new Set(['prefer', 'require', 'verify-ca', 'verify-full']);
const UNCHECKED_MODES: ReadonlySet<string> = new Set(['prefer', 'require']);
const TLS_FILES = ['sslcert', 'sslkey', 'sslrootcert'];

const BEGIN = 'begin isolation level read committed';
const LOCAL_LIMITS = Object.entries(SESSION_LIMITS).map(([name, ms]) => `set local ${name} = ${ms}`);

/** PostgreSQL by pg. */
export const postgresEngine = {
  name: 'postgres' as const,
  displayName: 'PostgreSQL',

  urlForm: 'postgres://…',
  owns: (url) => /^postgres(?:ql)?:\/\/./.test(url),
  driver: 'pg',
  access(library, url) {
    if (!URL.canParse(url)) {
      throw new ShownError(
        `a PostgreSQL URL looks like postgres://user:password@host:5432/database; ${ESCAPES_IN_URLS}`,
      );
    }
    return postgresAccess(library, url);
  },

  server: {
    port: 5432,
    tlsOption: 'sslmode=verify-full',
    unprotectedHost: unprotectedPostgresHost,
    check: checkPostgresServer,
  },

  schema: {
    keyType: () => 'text collate "C"',
    jsonType: 'text',
    tableEnd: () => '',
    indexOf: (condition) => ` where ${condition}`,
    isTransactional: true,
    now: 'floor(extract(epoch from now()) * 1000)',
  },
  // As a subquery it is evaluated once a statement, so that an index can be searched by it.
  time: '(select floor(extract(epoch from clock_timestamp()) * 1000)::bigint)',
  hasTable: (table) => ({
    sql: 'select from pg_class where relname = ? and pg_table_is_visible(oid)',
    parameters: [table],
  }),

  // The database's own default may be a stricter isolation. All goes in one round trip.
  begin: (hasLimitedSession) => [hasLimitedSession ? BEGIN : [BEGIN, ...LOCAL_LIMITS].join('; ')],
  sharesCommits: false,
  withPlaceholders: numbered,
  locksRows: true,

  // A deadlock; or a single statement, outside of `begin`, where the default isolation is a stricter one.
  isBusy: (error) => ['40P01', '40001'].includes(codeOf(error)),
  isTaken: (error) => codeOf(error) === '23505',
  // Two processes that make a table at once may also meet in the catalog's unique keys.
  isThere: (error) => ['42P07', '42710'].includes(codeOf(error)),

  failures: [
    [/^(ECONN|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT|EPIPE)/, 'does not answer; is it running, and reachable from here?'],
    [/^28/, 'refuses this user or password'],
    [/^3D000$/, 'has no such database'],
    [/^42501$/, 'does not let this user make, read or write the payment tables'],
    [/^25006$/, 'is read-only; is it a standby?'],
    [/^53300$/, 'has too many connections already'],
    [/^55P03$/, 'is being changed by another process that does not finish; try again'],
    [/^57014$/, 'answers too slowly'],
    [/^57P03$/, 'is starting up or shutting down'],
    [/^EPROTO$|PROTOCOL_VERSION|HANDSHAKE_FAILURE/, 'does not agree on TLS: 1.2 or 1.3, with forward secrecy'],
    [/CERT|SELF_SIGNED|TLS|SSL/, 'has a TLS certificate that cannot be trusted'],
  ],
  uncodedFailures: [[/timeout/i, 'ETIMEDOUT']],
} satisfies SqlEngine;

/** With `$1`, `$2` and so on. */
function numbered(sql: string): string {
  let position = 0;
  return sql.replace(/\?/g, () => `$${(position += 1)}`);
}

/**
 * The host that pg reaches without TLS, or without checking the server's certificate; null if it checks it, and for a
 * Unix socket. As pg does, this reads the URL, and the variables for what the URL does not say.
 */
function unprotectedPostgresHost(url: string, environment: Environment): string | null {
  if (!URL.canParse(url)) return null;
  const host = hostOf(url) || environment['PGHOST'] || 'localhost';
  return host.startsWith('/') || isProtected(new URL(url).searchParams, environment) ? null : host;
}

function isProtected(query: URLSearchParams, environment: Environment): boolean {
  if (looksAtNoCertificate(environment)) return false;
  const mode = query.get('sslmode');
  if (mode !== null && mode !== '') {
    const isUnchecked = query.get('uselibpqcompat') === 'true' && UNCHECKED_MODES.has(mode);
    return TLS_MODES.has(mode) && (!isUnchecked || (mode === 'require' && query.has('sslrootcert')));
  }
  if (TLS_FILES.some((name) => query.get(name)) || query.get('sslnegotiation') === 'direct') return true;
  const ssl = query.get('ssl');
  if (ssl !== null) return ssl === 'true' || ssl === '1';
  return TLS_MODES.has(environment['PGSSLMODE'] ?? '');
}

/** Reaches the database of a URL over a pool of connections that is made at the first query. */
export function postgresAccess(kysely: Kysely, connectionString: string, max = OWN_POOL.connections): SqlAccess {
  let hasLimitedSessions = false;
  const open: OpenPool<PoolClient> = async () => {
    checkPostgresHost(hostOf(connectionString));
    const limited = await makePool({ connectionString, max, ...SESSION_LIMITS });
    try {
      hasLimitedSessions = await hasLimits(limited);
      return driverPoolOf(limited);
    } catch (error) {
      await limited.end();
      if (!REFUSED_SETTING.test(String((error as Error).message))) throw error;
      // Each transaction sets the limits then.
      return driverPoolOf(await makePool({ connectionString, max }));
    }
  };
  return boundedAccess(kysely, 'Postgres', open, () => hasLimitedSessions);
}

/** Reaches the database of a pool that is given. */
export function postgresPoolAccess(kysely: Kysely, pool: PostgresPool, limits = LIMITS): SqlAccess {
  const open: OpenPool<PoolClient> = () => Promise.resolve(driverPoolOf(pool));
  return boundedAccess(kysely, 'Postgres', open, () => false, limits);
}

/** The host that a URL names, unescaped; empty for none. */
function hostOf(url: string): string {
  if (!URL.canParse(url)) return '';
  const { hostname, searchParams } = new URL(url);
  return searchParams.get('host') || (unescaped(hostname) ?? hostname);
}

/** What PgBouncer says to settings that it does not know, and a database that has fewer of them than PostgreSQL. */
const REFUSED_SETTING = /unsupported startup parameter|unrecognized configuration parameter/i;

async function makePool(config: PoolConfig): Promise<PostgresPool> {
  const { default: pg } = await importDriver('pg', () => import('pg'));
  const pool = new pg.Pool({
    ...config,
    Client: withStrongTls(pg.Client),
    connectionTimeoutMillis: OWN_POOL.connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: OWN_POOL.keepAliveDelayMs,
  });
  // An idle connection that breaks is replaced; the first one may do so before the driver listens to it.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/**
 * Clients that use TLS, where the URL or the environment asks for it, as strong as that of payments. It cannot be given
 * as an option: once the URL has any option for TLS, pg reads the URL alone.
 */
function withStrongTls(Base: typeof Client): typeof Client {
  return class extends Base {
    constructor(config?: string | ClientConfig) {
      super(config);
      const { connection } = this as unknown as { readonly connection: { ssl: boolean | object } };
      if (connection.ssl === true) connection.ssl = { ...STRONG_TLS };
      // Changed in place: a copy would lose the client's key, which is not enumerable.
      else if (connection.ssl) Object.assign(connection.ssl, STRONG_TLS);
    }
  };
}

/** Whether the limits are in force: a pooler may have ignored them, and the URL may set others. */
async function hasLimits(pool: PostgresPool): Promise<boolean> {
  const client: PoolClient = await pool.connect();
  let isBroken = true;
  try {
    const asked = client.query<{ name: string; setting: string }>(
      'select name, setting from pg_settings where name = any($1)',
      [Object.keys(SESSION_LIMITS)],
    );
    const { rows } = await withTimeout(LIMITS.queryMs, () => asked);
    isBroken = false;
    return Object.entries(SESSION_LIMITS).every(([name, ms]) =>
      rows.some((row) => row.name === name && row.setting === String(ms)),
    );
  } catch (error) {
    // A server that only looks like PostgreSQL may not have them; the store's own check names it.
    if (isAnswer(error)) return false;
    throw error;
  } finally {
    client.release(isBroken);
  }
}

/** What clients of `pg` have beyond what Kysely needs. */
interface PoolClient extends PostgresPoolClient {
  /** With true, the connection is closed, even while a query runs on it. */
  release(isBroken?: boolean): void;
}

function driverPoolOf(pool: PostgresPool): DriverPool<PoolClient> {
  return {
    emitter: pool,
    newConnection: 'connect',
    acquire: () => pool.connect(),
    query: async (client, sql, parameters) => queryResultOf(await client.query(sql, parameters)),
    release: (client, isBroken) => client.release(isBroken),
    isAnswer,
    end: () => pool.end(),
  };
}

/** Of several statements the driver returns a list. */
function queryResultOf(result: PostgresQueryResult<unknown> | readonly unknown[]): QueryResult<unknown> {
  if (!('rows' in result)) return { rows: [] };
  return { rows: result.rows, numAffectedRows: BigInt(result.rowCount ?? 0) };
}

/**
 * Errors with which the server ends the connection, or after which another server should be asked: it shuts down, was
 * told to end it, or is only a standby now.
 */
const ENDS_CONNECTION = /^(?:57P0[1-5]|08|25006)/;

/** Whether the error is an answer of the server, over a connection that stays open. */
function isAnswer(error: unknown): boolean {
  const { severity, code } = Object(error) as { severity?: unknown; code?: unknown };
  return typeof severity === 'string' && !ENDS_CONNECTION.test(String(code));
}
