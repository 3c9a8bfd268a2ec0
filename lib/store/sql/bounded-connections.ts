import { TimeoutError, withTimeout } from '../../payment/with-timeout.js';

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

export const POOL_LIMITS: PoolLimits = { connectMs: 10_000, queryMs: 12_000, useMs: 17_000, pingMs: 1_000 };

/** A driver's pool, and how its connections are used. */
export interface DriverPool<Connection extends object, Result> {
  acquire(): Promise<Connection>;
  query(connection: Connection, sql: string, parameters: readonly unknown[]): Promise<Result>;
  /** With `isBroken`, the connection is closed, even while a query runs on it. */
  release(connection: Connection, isBroken: boolean): void;
  /** Whether the error is an answer of the server, over a connection that stays open. */
  isAnswer(error: unknown): boolean;
  /** How many connections wait to be used. */
  idleCount(): number;
}

/**
 * Keeps callers of a pool from waiting for dead connections: after a fail-over, for example, or when a firewall has
 * dropped them. A connection that leaves a query unanswered is closed; from then on, every connection that has not
 * answered since is pinged before it is used, and replaced when it does not answer.
 *
 * The drivers' own limits do less: after a time-out the dead connection goes back to the pool, nothing limits a whole
 * transaction or pings the other connections, and a pool that is given may have no limits at all.
 */
export class BoundedConnections<Connection extends object, Result> {
  private suspectedAt = -Infinity;
  private readonly answeredAt = new WeakMap<Connection, number>();

  constructor(
    readonly pool: DriverPool<Connection, Result>,
    readonly limits = POOL_LIMITS,
  ) {}

  async connect(): Promise<BoundedConnection<Connection, Result>> {
    const end = performance.now() + this.limits.connectMs;
    for (;;) {
      const connection = await this.acquire(end - performance.now());
      const bounded = new BoundedConnection(connection, this);
      if (!this.isSuspect(connection) || (await bounded.ping())) return bounded;
      bounded.release();
    }
  }

  noteAnswer(connection: Connection): void {
    this.answeredAt.set(connection, performance.now());
  }

  noteSilence(): void {
    this.suspectedAt = performance.now();
    // Pings the idle ones now: if callers did so one after the other, each would wait another second.
    for (let index = 0; index < this.pool.idleCount(); index += 1) {
      void this.connect().then(
        (connection) => connection.release(),
        () => undefined,
      );
    }
  }

  private isSuspect(connection: Connection): boolean {
    return (this.answeredAt.get(connection) ?? -Infinity) < this.suspectedAt;
  }

  private async acquire(ms: number): Promise<Connection> {
    const acquiring = this.pool.acquire();
    try {
      return await withTimeout(ms, () => acquiring);
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

/** A connection that is in use. */
export class BoundedConnection<Connection extends object, Result> {
  private readonly end: number;
  private isReleased = false;
  private isBroken = false;

  constructor(
    readonly connection: Connection,
    private readonly connections: BoundedConnections<Connection, Result>,
  ) {
    this.end = performance.now() + connections.limits.useMs;
  }

  async query(sql: string, parameters: readonly unknown[]): Promise<Result> {
    try {
      return await this.ask(sql, parameters, Math.min(this.connections.limits.queryMs, this.end - performance.now()));
    } catch (error) {
      if (error instanceof TimeoutError) this.connections.noteSilence();
      throw error;
    }
  }

  /** Whether the connection is alive. */
  async ping(): Promise<boolean> {
    return this.ask('select 1', [], this.connections.limits.pingMs).then(
      () => true,
      () => false,
    );
  }

  release(isBroken = false): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.isBroken ||= isBroken;
    this.connections.pool.release(this.connection, this.isBroken);
  }

  private async ask(sql: string, parameters: readonly unknown[], ms: number): Promise<Result> {
    const { pool } = this.connections;
    if (this.isReleased) throw new Error('the connection is gone');
    try {
      if (ms <= 0) throw new TimeoutError('the connection has been in use for too long');
      const result = await withTimeout(ms, () => pool.query(this.connection, sql, parameters));
      this.connections.noteAnswer(this.connection);
      return result;
    } catch (error) {
      if (pool.isAnswer(error)) {
        this.connections.noteAnswer(this.connection);
      } else {
        this.isBroken = true;
        this.release();
      }
      throw error;
    }
  }
}
