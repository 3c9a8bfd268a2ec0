import { setImmediate } from 'node:timers/promises';
import { MAX_BUSY_WAIT_MS, retryWhileBusy } from './retry-while-busy.js';
import type { InProcessConnection, SqlEngine } from './sql-engine.js';
import { runStepsNow, type Steps } from './steps.js';
import { Undo } from './undo.js';

/** How many share a transaction at most: the event loop stands still while they are written, a few milliseconds. */
export const MAX_BATCH = 64;

const COMMIT = { sql: 'commit' };
const ROLLBACK = { sql: 'rollback' };
const SAVEPOINT = { sql: 'savepoint one' };
const UNDO = { sql: 'rollback to one' };
const RELEASE = { sql: 'release one' };

interface Waiting {
  /** By `performance.now`. */
  readonly since: number;
  readonly work: () => Steps<unknown>;
  readonly resolve: (outcome: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Writes to a database inside this process. What waits when the writer gets its turn shares one transaction, as writing
 * to the disk at its end costs more than all else. An outcome is given once that transaction is committed.
 */
export class GroupCommit {
  private readonly waiting: Waiting[] = [];
  private isWriting = false;

  /** @param withConnection gives the connection while nobody else has a transaction on it */
  constructor(
    private readonly engine: SqlEngine,
    private readonly withConnection: (use: (connection: InProcessConnection) => Promise<void>) => Promise<void>,
  ) {}

  /** Runs work in a transaction; runs it again when another process was in the way, or another one's work failed. */
  run<T>(work: () => Steps<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const since = performance.now();
      this.waiting.push({ since, work, resolve: resolve as (outcome: unknown) => void, reject });
      if (!this.isWriting) void this.writeAll();
    });
  }

  private async writeAll(): Promise<void> {
    this.isWriting = true;
    while (this.waiting.length > 0) {
      // Sockets are read first: what their requests write shares the transaction.
      await setImmediate();
      try {
        await this.withConnection((connection) => this.write(connection, this.waiting.splice(0, MAX_BATCH)));
      } catch (error) {
        for (const { reject } of this.waiting.splice(0)) reject(error);
      }
    }
    this.isWriting = false;
  }

  /** Writes all or, when that fails, each alone, so that only the one at fault fails. */
  private async write(connection: InProcessConnection, batch: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await retryWhileBusy(this.engine.isBusy, () => this.tryTransaction(connection, batch));
      batch.forEach(({ resolve }, index) => resolve(outcomes[index]));
    } catch (error) {
      if (batch.length === 1 || this.engine.isBusy(error)) {
        for (const { reject } of batch) reject(error);
        if (this.engine.isBusy(error)) this.giveUp(error);
        return;
      }
      for (const one of batch) {
        await setImmediate();
        await this.write(connection, [one]);
      }
    }
  }

  /** Fails those that have waited as long as the one that failed: the next batch would take as long again. */
  private giveUp(error: unknown): void {
    const since = performance.now() - MAX_BUSY_WAIT_MS;
    while (this.waiting[0] && this.waiting[0].since <= since) this.waiting.shift()?.reject(error);
  }

  /** Waits for nothing between its begin and its end, so that nobody reads what is not committed. */
  // eslint-disable-next-line @typescript-eslint/require-await -- what it throws is to reject
  private async tryTransaction(connection: InProcessConnection, batch: readonly Waiting[]): Promise<unknown[]> {
    for (const statement of this.engine.begin) connection.execute(statement);
    try {
      const outcomes = batch.map(({ work }) => runUndoable(connection, work()));
      connection.execute(COMMIT);
      return outcomes;
    } catch (error) {
      // After some failures SQLite has rolled back by itself.
      if (connection.inTransaction) connection.execute(ROLLBACK);
      throw error;
    }
  }
}

/** Work that is undone takes nothing of the others' with it. */
function runUndoable(connection: InProcessConnection, steps: Steps<unknown>): unknown {
  connection.execute(SAVEPOINT);
  try {
    return runStepsNow(connection, steps);
  } catch (error) {
    if (!(error instanceof Undo)) throw error;
    connection.execute(UNDO);
    return error.outcome;
  } finally {
    if (connection.inTransaction) connection.execute(RELEASE);
  }
}
