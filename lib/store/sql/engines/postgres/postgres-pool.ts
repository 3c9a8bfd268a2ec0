import type { PostgresCursor, PostgresDialect, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import type { Client, ClientConfig, Pool, PoolConfig } from 'pg';
import { STRONG_TLS } from '../../../../payment/tls.js';
import { TimeoutError, withTimeout } from '../../../../payment/with-timeout.js';
import { importDriver } from '../../driver-errors.js';
import type { SqlAccess } from '../../sql-engine.js';

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
    const opened = await openPool({ connectionString, max });
    hasLimitedSessions = opened.hasLimitedSessions;
    return new BoundedPool(opened.pool);
  };
  return { dialect: new Dialect({ pool }), hasLimitedSessions: () => hasLimitedSessions };
}

/** Asks for the limits when a session begins. PgBouncer refuses that; then each transaction sets them. */
async function openPool(config: PoolConfig): Promise<{ pool: Pool; hasLimitedSessions: boolean }> {
  const limited = await makePool({ ...config, ...SESSION_LIMITS });
  try {
    return { pool: limited, hasLimitedSessions: await hasLimits(limited) };
  } catch (error) {
    await limited.end();
    if (!/unsupported startup parameter/i.test(String((error as Error).message))) throw error;
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
  } finally {
    client.release();
  }
}

/** How long callers wait, in milliseconds. */
export interface PoolLimits {
  /** For a connection. */
  readonly connectMs: number;
  /** For an answer. Longer than the database's own limits, which end a query while the connection is alive. */
  readonly queryMs: number;
  /** From getting a connection to giving it back, however many queries that takes. */
  readonly useMs: number;
  /** For the answer to a ping. */
  readonly pingMs: number;
}

const LIMITS: PoolLimits = { connectMs: 10_000, queryMs: 12_000, useMs: 17_000, pingMs: 1_000 };

/** What clients of `pg` have beyond what Kysely needs. */
interface PoolClient extends PostgresPoolClient {
  /** With true, the connection is closed, even while a query runs on it. */
  release(isBroken?: boolean): void;
  on?(event: 'error', listener: () => void): unknown;
  off?(event: 'error', listener: () => void): unknown;
}

/**
 * Keeps callers of a pool from waiting for dead connections: after a fail-over, for example, or when a firewall has
 * dropped them. A connection that leaves a query unanswered is closed; from then on, every connection that has not
 * answered since is pinged before it is used, and replaced when it does not answer.
 *
 * pg's own limits do less: after its `query_timeout` the dead connection goes back to the pool, nothing limits a whole
 * transaction or pings the other connections, and a pool that is given may have no `connectionTimeoutMillis`.
 */
export class BoundedPool implements PostgresPool {
  private suspectedAt = -Infinity;
  private readonly answeredAt = new WeakMap<PoolClient, number>();

  constructor(
    private readonly pool: PostgresPool,
    readonly limits = LIMITS,
  ) {
    listenToNewClients(pool);
  }

  /** Kysely reads them from 0.29 on. */
  get options(): object {
    return (this.pool as { readonly options?: object }).options ?? {};
  }

  async connect(): Promise<PostgresPoolClient> {
    const end = performance.now() + this.limits.connectMs;
    for (;;) {
      const client = await this.acquire(end - performance.now());
      const bounded = new BoundedClient(client, this);
      if (!this.isSuspect(client) || (await bounded.ping())) return bounded;
      bounded.release();
    }
  }

  end(): Promise<void> {
    return this.pool.end();
  }

  noteAnswer(client: PoolClient): void {
    this.answeredAt.set(client, performance.now());
  }

  noteSilence(): void {
    this.suspectedAt = performance.now();
    // Pings the idle ones now: if callers did so one after the other, each would wait another second.
    const { idleCount = 0 } = this.pool as { readonly idleCount?: number };
    for (let index = 0; index < idleCount; index += 1) {
      void this.connect().then(
        (client) => client.release(),
        () => undefined,
      );
    }
  }

  private isSuspect(client: PoolClient): boolean {
    return (this.answeredAt.get(client) ?? -Infinity) < this.suspectedAt;
  }

  private async acquire(ms: number): Promise<PoolClient> {
    const connecting = this.pool.connect();
    try {
      return await withTimeout(ms, () => connecting);
    } catch (error) {
      if (error instanceof TimeoutError) {
        void connecting.then(
          (late) => late.release(),
          () => undefined,
        );
      }
      throw error;
    }
  }
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
  private readonly end: number;
  private isReleased = false;
  private isBroken = false;

  constructor(
    private readonly client: PoolClient,
    private readonly pool: BoundedPool,
  ) {
    this.end = performance.now() + pool.limits.useMs;
    // The pool listens to idle clients only; without a listener, a connection that breaks would end the process.
    client.on?.('error', ignore);
  }

  query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  query<R>(
    query: string | PostgresCursor<R>,
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    if (typeof query !== 'string') return this.client.query(query);
    return this.ask<R>(query, parameters, Math.min(this.pool.limits.queryMs, this.end - performance.now())).catch(
      (error) => {
        if (error instanceof TimeoutError) this.pool.noteSilence();
        throw error;
      },
    );
  }

  /** Whether the connection is alive. */
  async ping(): Promise<boolean> {
    return this.ask('select 1', [], this.pool.limits.pingMs).then(
      () => true,
      () => false,
    );
  }

  release(isBroken = false): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.isBroken ||= isBroken;
    // A broken connection may still emit an error after this.
    if (!this.isBroken) this.client.off?.('error', ignore);
    this.client.release(this.isBroken);
  }

  private async ask<R>(sql: string, parameters: readonly unknown[], ms: number): Promise<PostgresQueryResult<R>> {
    if (this.isReleased) throw new Error('the connection is gone');
    try {
      if (ms <= 0) throw new TimeoutError('the connection has been in use for too long');
      const result = await withTimeout(ms, () => this.client.query<R>(sql, parameters));
      this.pool.noteAnswer(this.client);
      return result;
    } catch (error) {
      if (isAnswer(error)) {
        this.pool.noteAnswer(this.client);
      } else {
        this.isBroken = true;
        this.release();
      }
      throw error;
    }
  }
}

/** Errors with which the server ends the connection: it shuts down, or was told to end it. */
const ENDS_CONNECTION = /^(?:57P0[1-5]|08)/;

/** Whether the error is an answer of the server, over a connection that stays open. */
function isAnswer(error: unknown): boolean {
  const { severity, code } = Object(error) as { severity?: unknown; code?: unknown };
  return typeof severity === 'string' && !ENDS_CONNECTION.test(String(code));
}

function ignore(): void {
  // The query that runs on this connection rejects with the error.
}
