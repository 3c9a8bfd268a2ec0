import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely';
import { TimeoutError, withTimeout } from '../../runtime/clock.js';
import type { SqlAccess } from './engine.js';

/** How long callers wait, in milliseconds. */
export interface Limits {
  /** For a connection. */
  readonly connectMs: number;
  /** For an answer. Longer than the database's own limits, which end a query while the connection is alive. */
  readonly queryMs: number;
  /** From getting a connection to giving it back, however many queries that takes. */
  readonly useMs: number;
}

export const LIMITS: Limits = { connectMs: 10_000, queryMs: 12_000, useMs: 17_000 };

/** How a pool of the store's own is made. */
export const OWN_POOL = { connectMs: 10_000, keepAliveDelayMs: 10_000, connections: 10 };

/** A driver's pool, its own or one that is given, and how its connections are used. */
export interface DriverPool<Connection extends object> {
  /** What emits `newConnection` with each connection that it makes; a host's pool may emit nothing. */
  readonly emitter: object;
  readonly newConnection: string;
  acquire(): Promise<Connection>;
  query(connection: Connection, sql: string, parameters: readonly unknown[]): Promise<QueryResult<unknown>>;
  /** With `isBroken`, the connection is closed, even while a query runs on it. */
  release(connection: Connection, isBroken: boolean): void;
  /** Whether the error is an answer of the server, over a connection that stays open. */
  isAnswer(error: unknown): boolean;
  end(): Promise<void>;
}

export type OpenPool<Connection extends object> = () => Promise<DriverPool<Connection>>;

interface Emitter {
  on?(event: string, listener: (connection: object) => void): unknown;
}

/**
 * When each connection was made, of all pools: several stores may use one. A connection that was made before its pool
 * was listened to is older than any other.
 */
const madeAt = new WeakMap<object, number>();
const listenedTo = new WeakSet<object>();

/**
 * Listens to the errors of a connection, too: the query that runs on it rejects with them, and without a listener they
 * would end the process. A pool listens to idle connections only, and one that is broken may still emit an error.
 */
function note(connection: Emitter, at: number): void {
  if (!madeAt.has(connection)) connection.on?.('error', () => undefined);
  madeAt.set(connection, at);
}

function noteNew(connection: Emitter): void {
  note(connection, performance.now());
}

/**
 * Keeps callers from waiting for dead connections: after a fail-over, for example, or when a firewall has dropped them.
 * A connection that leaves a query unanswered is closed; from then on, every connection that is older than this silence
 * is closed instead of being used.
 *
 * The drivers' own limits do less: after a time-out the dead connection goes back to the pool, nothing limits a whole
 * transaction or closes the other connections, and a pool that is given may have no limits at all.
 */
class BoundedDriver<Connection extends object> implements Driver {
  /** Knows the password of its connections: a `#` field is never printed. */
  #pool: DriverPool<Connection> | null = null;
  private silentAt = -Infinity;

  constructor(
    private readonly open: OpenPool<Connection>,
    readonly limits = LIMITS,
  ) {}

  async init(): Promise<void> {
    const pool = await this.open();
    this.#pool = pool;
    if (listenedTo.has(pool.emitter)) return;
    listenedTo.add(pool.emitter);
    // A server that shuts down may end a connection as soon as it is made, before it is given to a caller.
    (pool.emitter as Emitter).on?.(pool.newConnection, noteNew);
  }

  async acquireConnection(): Promise<BoundedConnection<Connection>> {
    const end = performance.now() + this.limits.connectMs;
    for (;;) {
      const connection = await this.acquire(end - performance.now());
      if (madeAt.get(connection)! >= this.silentAt) return new BoundedConnection(connection, this);
      this.pool.release(connection, true);
    }
  }

  releaseConnection(connection: DatabaseConnection): Promise<void> {
    (connection as BoundedConnection<Connection>).release(false);
    return Promise.resolve();
  }

  async destroy(): Promise<void> {
    await this.#pool?.end();
  }

  beginTransaction(): Promise<void> {
    throw new Error('the store begins its transactions itself');
  }

  readonly commitTransaction = this.beginTransaction.bind(this);
  readonly rollbackTransaction = this.beginTransaction.bind(this);

  get pool(): DriverPool<Connection> {
    if (!this.#pool) throw new Error('the database is not open');
    return this.#pool;
  }

  noteSilence(): void {
    this.silentAt = performance.now();
  }

  private async acquire(ms: number): Promise<Connection> {
    if (ms <= 0) throw new TimeoutError('there is no connection that answers');
    const acquiring = this.pool.acquire();
    try {
      const connection = await withTimeout(ms, () => acquiring);
      if (!('on' in this.pool.emitter)) noteNew(connection);
      else if (!madeAt.has(connection)) note(connection, -Infinity);
      return connection;
    } catch (error) {
      if (error instanceof TimeoutError) {
        void acquiring.then(
          (late) => this.pool.release(late, false),
          () => undefined,
        );
      }
      throw error;
    }
  }
}

/** Reaches a database by Kysely's dialect of this name, over connections that are bounded. */
export function boundedAccess<Connection extends object>(
  kysely: typeof import('kysely'),
  name: 'Postgres' | 'Mysql',
  open: OpenPool<Connection>,
  hasLimitedSessions: () => boolean,
  limits = LIMITS,
): SqlAccess {
  const dialect: Dialect = {
    createAdapter: () => new kysely[`${name}Adapter`](),
    createDriver: () => new BoundedDriver(open, limits),
    createIntrospector: (db) => new kysely[`${name}Introspector`](db),
    createQueryCompiler: () => new kysely[`${name}QueryCompiler`](),
  };
  return { dialect, hasLimitedSessions };
}

/** A connection that is in use. */
class BoundedConnection<Connection extends object> implements DatabaseConnection {
  private readonly end: number;
  private isReleased = false;

  constructor(
    private readonly connection: Connection,
    private readonly driver: BoundedDriver<Connection>,
  ) {
    this.end = performance.now() + driver.limits.useMs;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { pool, limits } = this.driver;
    if (this.isReleased) throw new Error('the connection is gone');
    const ms = Math.min(limits.queryMs, this.end - performance.now());
    try {
      if (ms <= 0) throw new TimeoutError('the connection has been in use for too long');
      return (await withTimeout(ms, () => pool.query(this.connection, sql, parameters))) as QueryResult<R>;
    } catch (error) {
      if (error instanceof TimeoutError) this.driver.noteSilence();
      if (!pool.isAnswer(error)) this.release(true);
      throw error;
    }
  }

  streamQuery(): never {
    throw new Error('the store reads no streams');
  }

  release(isBroken: boolean): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.driver.pool.release(this.connection, isBroken);
  }
}
