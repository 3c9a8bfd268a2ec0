import { setImmediate } from 'node:timers/promises';
import {
  type InProcessConnection,
  MAX_BUSY_WAIT_MS,
  retryWhileBusy,
  runStepsNow,
  type SqlSyntax,
  type Steps,
  Undo,
} from './sql-transaction.js';

/** How many pieces of work share a transaction: writing them blocks the event loop, for a few milliseconds. */
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
 * Writes to a database inside this process. All work that waits when the writer gets its turn shares one transaction,
 * because the commit, which writes to the disk, costs more than everything else. Each piece of work gives its outcome
 * once that transaction is committed.
 */
export class GroupCommit {
  private readonly waiting: Waiting[] = [];
  private isWriting = false;

  /** @param withConnection gives the connection while no other transaction is open on it */
  constructor(
    private readonly syntax: SqlSyntax,
    private readonly withConnection: (use: (connection: InProcessConnection) => Promise<void>) => Promise<void>,
  ) {}

  /** Runs work in a transaction; runs it again if it conflicted with another process, or if other work in it failed. */
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
      // Requests that have arrived are read first, so that their writes share the transaction.
      await setImmediate();
      try {
        await this.withConnection((connection) => this.write(connection, this.waiting.splice(0, MAX_BATCH)));
      } catch (error) {
        for (const { reject } of this.waiting.splice(0)) reject(error);
      }
    }
    this.isWriting = false;
  }

  /** Writes all in one transaction or, when that fails, each in its own, so that only the work at fault fails. */
  private async write(connection: InProcessConnection, batch: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await retryWhileBusy(this.syntax.isBusy, () => this.tryTransaction(connection, batch));
      batch.forEach(({ resolve }, index) => resolve(outcomes[index]));
    } catch (error) {
      if (batch.length === 1 || this.syntax.isBusy(error)) {
        for (const { reject } of batch) reject(error);
        if (this.syntax.isBusy(error)) this.giveUp(error);
        return;
      }
      for (const one of batch) {
        await setImmediate();
        await this.write(connection, [one]);
      }
    }
  }

  /** Fails the work that has waited as long as this batch: in the next one it would wait as long again. */
  private giveUp(error: unknown): void {
    const since = performance.now() - MAX_BUSY_WAIT_MS;
    while (this.waiting[0] && this.waiting[0].since <= since) this.waiting.shift()?.reject(error);
  }

  /** Never awaits between begin and commit, so that no other code of this process reads what is not committed. */
  // eslint-disable-next-line @typescript-eslint/require-await -- so that a throw becomes a rejection
  private async tryTransaction(connection: InProcessConnection, batch: readonly Waiting[]): Promise<unknown[]> {
    for (const statement of this.syntax.begin) connection.execute(statement);
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

/** Runs work behind a savepoint: undoing it leaves the other work of the transaction as it is. */
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
