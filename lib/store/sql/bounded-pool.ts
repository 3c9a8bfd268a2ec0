import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import { TimeoutError, withTimeout } from '../../payment/with-timeout.js';

/** How long callers wait, in milliseconds. */
export interface PoolLimits {
  /** For a connection. */
  readonly connectMs: number;
  /** For an answer; the database's own limits come first, where the connection is alive. */
  readonly queryMs: number;
  /** From having a connection to giving it back, whatever is asked. */
  readonly useMs: number;
  /** For a connection to say that it is alive. */
  readonly pingMs: number;
}

const LIMITS: PoolLimits = { connectMs: 10_000, queryMs: 12_000, useMs: 17_000, pingMs: 1_000 };

/** What clients of `pg` have beside what Kysely asks for. */
interface PoolClient extends PostgresPoolClient {
  /** With true, the connection is closed instead, at once where a query is under way. */
  release(isBroken?: boolean): void;
  on?(event: 'error', listener: () => void): unknown;
  off?(event: 'error', listener: () => void): unknown;
}

/**
 * Keeps callers of a pool from waiting for connections that have gone dead: behind a firewall, say, that forgot them,
 * or after a fail-over without a goodbye. An unanswered query costs its connection; from then on every connection that
 * has not answered since is asked before it is used, and replaced when it does not answer.
 */
export class BoundedPool implements PostgresPool {
  private suspectedAt = -Infinity;
  private readonly answeredAt = new WeakMap<PoolClient, number>();

  constructor(
    private readonly pool: PostgresPool,
    readonly limits = LIMITS,
  ) {}

  /** Kysely asks for them from 0.29 on. */
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
    // At once for those that are idle: one after the other, they would cost each caller another second.
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

class BoundedClient implements PostgresPoolClient {
  private readonly end: number;
  private isReleased = false;
  private isBroken = false;

  constructor(
    private readonly client: PoolClient,
    private readonly pool: BoundedPool,
  ) {
    this.end = performance.now() + pool.limits.useMs;
    // A pool listens to its idle clients alone; without a listener, a connection that breaks would end the process.
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
    // One that is broken may still say so once nobody listens to it any more.
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

/** The server ends the connection with these: it shuts down, or was told to end it. */
const LAST_WORDS = /^(?:57P0[1-5]|08)/;

/** Whether it is the server that said so, over a connection that goes on. */
function isAnswer(error: unknown): boolean {
  const { severity, code } = Object(error) as { severity?: unknown; code?: unknown };
  return typeof severity === 'string' && !LAST_WORDS.test(String(code));
}

function ignore(): void {
  // Whoever waits for an answer of this connection is told by the query.
}
