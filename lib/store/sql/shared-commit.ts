import { setImmediate } from 'node:timers/promises';
import type { SqlEngine } from './engine.js';
import { execute, type PaymentDb, type Work } from './tables.js';

/** How many pieces of work share a transaction: reads wait for it. */
const MAX_BATCH = 64;

interface Waiting {
  readonly work: Work<unknown>;
  readonly resolve: (outcome: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * All work that waits when the writer gets its turn shares one transaction, because the commit, which writes to the
 * disk, costs more than everything else. Each piece of work gives its outcome once that transaction is committed; one
 * that throws is undone alone.
 */
export class SharedCommit {
  private readonly waiting: Waiting[] = [];
  private isWriting = false;

  constructor(
    private readonly engine: Pick<SqlEngine, 'isBusy'>,
    private readonly transaction: (work: Work<(() => void)[]>) => Promise<(() => void)[]>,
  ) {}

  run<T>(work: Work<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.waiting.push({ work, resolve: resolve as (outcome: unknown) => void, reject });
      if (!this.isWriting) void this.writeAll();
    });
  }

  private async writeAll(): Promise<void> {
    this.isWriting = true;
    while (this.waiting.length > 0) {
      // Requests that have arrived are read first, so that their writes share the transaction.
      await setImmediate();
      await this.write(this.waiting.splice(0, MAX_BATCH));
    }
    this.isWriting = false;
  }

  /** Writes all in one transaction or, when that fails, each in its own, so that only the work at fault fails. */
  private async write(batch: readonly Waiting[]): Promise<void> {
    try {
      const settle = await this.transaction(async (db) => {
        const outcomes: (() => void)[] = [];
        for (const one of batch) outcomes.push(await behindSavepoint(db, one));
        return outcomes;
      });
      for (const one of settle) one();
    } catch (error) {
      if (batch.length === 1 || this.engine.isBusy(error)) for (const { reject } of batch) reject(error);
      else for (const one of batch) await this.write([one]);
    }
  }
}

/** @returns what tells the caller the outcome, to be called once it is committed */
async function behindSavepoint(db: PaymentDb, { work, resolve, reject }: Waiting): Promise<() => void> {
  await execute(db, 'savepoint one');
  try {
    const outcome = await work(db);
    await execute(db, 'release one');
    return () => resolve(outcome);
  } catch (error) {
    // After some failures SQLite has rolled back everything by itself; then this fails, and each is tried alone.
    await execute(db, 'rollback to one');
    await execute(db, 'release one');
    return () => reject(error);
  }
}
