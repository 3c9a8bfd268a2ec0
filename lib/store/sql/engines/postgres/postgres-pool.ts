import type { PostgresCursor, PostgresDialect, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import type { Client, ClientConfig, Pool, PoolConfig } from 'pg';
import { STRONG_TLS } from '../../../../payment/tls.js';
import { type BoundedConnection, BoundedConnections, type DriverPool, POOL_LIMITS } from '../../bounded-connections.js';
import { importDriver } from '../../driver-errors.js';
import type { SqlAccess } from '../../sql-engine.js';
import { checkPostgresHost } from './server-check.js';

export const POSTGRES_PACKAGES = 'kysely pg';

/**
 * PostgreSQL's own limits, in milliseconds. Those of {@link BoundedPool} are longer, for servers that do not answer.
 */
export const SESSION_LIMITS = {
  statement_timeout: 10_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 10_000,
};

const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_DELAY_MS = 10_000;
const DEFAULT_CONNECTIONS = 10;

/** Reaches the database of a URL over a pool of connections that is made at the first query. */
export function postgresAccess(
  Dialect: typeof PostgresDialect,
  connectionString: string,
  max = DEFAULT_CONNECTIONS,
): SqlAccess {
  let hasLimitedSessions = false;
  const pool = async (): Promise<PostgresPool> => {
    checkPostgresHost(hostOf(connectionString));
    const opened = await openPool({ connectionString, max });
    hasLimitedSessions = opened.hasLimitedSessions;
    return new BoundedPool(opened.pool);
  };
  return { dialect: new Dialect({ pool }), hasLimitedSessions: () => hasLimitedSessions };
}

function hostOf(url: string): string {
  if (!URL.canParse(url)) return '';
  const { hostname, searchParams } = new URL(url);
  return searchParams.get('host') || hostname;
}

/** What PgBouncer says to settings that it does not know, and a database that has fewer of them than PostgreSQL. */
const REFUSED_SETTING = /unsupported startup parameter|unrecognized configuration parameter/i;

/** Asks for the limits when a session begins. Where that is refused, each transaction sets them. */
async function openPool(config: PoolConfig): Promise<{ pool: Pool; hasLimitedSessions: boolean }> {
  const limited = await makePool({ ...config, ...SESSION_LIMITS });
  try {
    return { pool: limited, hasLimitedSessions: await hasLimits(limited) };
  } catch (error) {
    await limited.end();
    if (!REFUSED_SETTING.test(String((error as Error).message))) throw error;
    return { pool: await makePool(config), hasLimitedSessions: false };
  }
}

async function makePool(config: PoolConfig): Promise<Pool> {
  const { default: pg } = await importDriver(POSTGRES_PACKAGES, () => import('pg'));
  const pool = new pg.Pool({
    ...config,
    Client: withStrongTls(pg.Client),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
  });
  // An idle connection that breaks is replaced; without a listener it would end the process.
  pool.on('error', () => undefined);
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
async function hasLimits(pool: Pool): Promise<boolean> {
  const names = Object.keys(SESSION_LIMITS);
  const client = await new BoundedPool(pool).connect();
  try {
    const { rows } = await client.query<{ name: string; setting: string }>(
      'select name, setting from pg_settings where name = any($1)',
      [names],
    );
    return Object.entries(SESSION_LIMITS).every(([name, ms]) =>
      rows.some((row) => row.name === name && row.setting === String(ms)),
    );
  } catch (error) {
    // A server that only looks like PostgreSQL may not have them; the store's own check names it.
    if (isAnswer(error)) return false;
    throw error;
  } finally {
    client.release();
  }
}

/** What clients of `pg` have beyond what Kysely needs. */
interface PoolClient extends PostgresPoolClient {
  /** With true, the connection is closed, even while a query runs on it. */
  release(isBroken?: boolean): void;
  on?(event: 'error', listener: () => void): unknown;
  off?(event: 'error', listener: () => void): unknown;
}

type Result = PostgresQueryResult<unknown>;

/** A pool of `pg`, its own or one that is given, whose callers wait for a limited time. */
export class BoundedPool implements PostgresPool {
  private readonly connections: BoundedConnections<PoolClient, Result>;

  constructor(
    private readonly pool: PostgresPool,
    limits = POOL_LIMITS,
  ) {
    listenToNewClients(pool);
    this.connections = new BoundedConnections(driverPoolOf(pool), limits);
  }

  /** Kysely reads them from 0.29 on. */
  get options(): object {
    return (this.pool as { readonly options?: object }).options ?? {};
  }

  async connect(): Promise<PostgresPoolClient> {
    return new BoundedClient(await this.connections.connect());
  }

  end(): Promise<void> {
    return this.pool.end();
  }
}

function driverPoolOf(pool: PostgresPool): DriverPool<PoolClient, Result> {
  return {
    async acquire() {
      const client: PoolClient = await pool.connect();
      // The pool listens to idle clients only; without a listener, a connection that breaks would end the process.
      client.on?.('error', ignore);
      return client;
    },
    query: (client, sql, parameters) => client.query(sql, parameters),
    release(client, isBroken) {
      // A broken connection may still emit an error after this.
      if (!isBroken) client.off?.('error', ignore);
      client.release(isBroken);
    },
    isAnswer,
    idleCount: () => (pool as { readonly idleCount?: number }).idleCount ?? 0,
  };
}

const listenedTo = new WeakSet<PostgresPool>();

/**
 * A server that shuts down may end a connection as soon as it is made, before it is given to a caller. The caller's
 * first query fails then; without a listener from the beginning, the error would end the process.
 */
function listenToNewClients(
  pool: PostgresPool & { on?(event: 'connect', act: (client: PoolClient) => void): unknown },
) {
  if (listenedTo.has(pool)) return;
  listenedTo.add(pool);
  pool.on?.('connect', (client) => client.on?.('error', ignore));
}

class BoundedClient implements PostgresPoolClient {
  constructor(private readonly bounded: BoundedConnection<PoolClient, Result>) {}

  query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  query<R>(
    query: string | PostgresCursor<R>,
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    if (typeof query !== 'string') return this.bounded.connection.query(query);
    return this.bounded.query(query, parameters) as Promise<PostgresQueryResult<R>>;
  }

  release(isBroken = false): void {
    this.bounded.release(isBroken);
  }
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

function ignore(): void {
  // The query that runs on this connection rejects with the error.
}
