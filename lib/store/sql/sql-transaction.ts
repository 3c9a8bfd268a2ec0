import type { CompiledQuery, KyselyPlugin, QueryResult } from 'kysely';
import { setTimeout } from 'node:timers/promises';
import type { PaymentDb } from './payment-tables.js';

/** A statement in the database's own SQL, with its own placeholders. */
export interface SqlStatement {
  readonly sql: string;
  readonly parameters?: readonly unknown[];
}

/** How the store's transactions and statements are written in one database's SQL. */
export interface SqlSyntax {
  /**
   * The time in milliseconds since 1970 UTC, in a form by which an index can be searched. Null if this process's clock
   * is used, since only processes of one machine share such a database.
   */
  readonly time: string | null;

  /**
   * Begins a transaction that may write and that reads whatever others have committed. What comes before the last of
   * these sets its isolation, which the store's own sessions have from their beginning.
   */
  readonly begin: readonly SqlStatement[];
  /**
   * Limits the transaction that has just begun: how long a statement runs, how long it waits for a lock, and how long
   * the transaction stays open when its process has vanished. Empty if none of this can happen.
   */
  readonly limits: readonly SqlStatement[];
  /** Whether the error is a conflict with another process: the same transaction or query may succeed a moment later. */
  readonly isBusy: (error: unknown) => boolean;

  /** What is appended to a query to lock the rows of a table that it finds and to skip rows that others have locked. */
  readonly rowLock: (table: string) => string;
  /**
   * Keeps others from fanning out an account's events until the transaction ends; waits for seconds only. Null if only
   * one transaction at a time may write.
   */
  readonly fanOutLock: ((account: string) => SqlStatement) | null;

  /** What is appended to an insert so that it does nothing, and counts no row, when a unique key is taken. */
  readonly unlessTaken: string;
  /** What is appended to an insert so that, when this primary key is taken, it sets one column of the row instead. */
  readonly orOverwrite: (primaryKey: readonly string[], column: string) => string;

  /** Makes texts of what the driver returns for a column of bytes; null if it returns texts. */
  readonly asTexts: KyselyPlugin | null;
}

/** A connection to a database inside this process: a statement is done when the call returns. */
export interface InProcessConnection {
  /** Whether a transaction is open on it. */
  readonly inTransaction: boolean;
  execute<Row>(statement: SqlStatement): QueryResult<Row>;
}

/**
 * The work of a transaction, one statement after the other: it yields each statement and is given the result. So the
 * same work runs over a connection that answers later and, without waiting, over one inside this process.
 */
export type Steps<T> = Generator<CompiledQuery, T, QueryResult<unknown>>;

/** One statement of the work: `yield* ask(query)`. */
export function* ask<Row>(query: CompiledQuery<Row>): Steps<QueryResult<Row>> {
  return (yield query) as QueryResult<Row>;
}

export async function runSteps<T>(db: PaymentDb, steps: Steps<T>): Promise<T> {
  let step = steps.next();
  while (!step.done) step = steps.next(await db.executeQuery(step.value));
  return step.value;
}

export function runStepsNow<T>(connection: InProcessConnection, steps: Steps<T>): T {
  let step = steps.next();
  while (!step.done) step = steps.next(connection.execute(step.value));
  return step.value;
}

/** Thrown by a transaction's work to roll it back and still give an outcome. */
export class Undo extends Error {
  constructor(readonly outcome: unknown) {
    super('undone');
  }
}

export const MAX_BUSY_WAIT_MS = 10_000;
const MAX_PAUSE_MS = 15;

/** Tries again while there is a conflict with another process, for ten seconds at most. */
export async function retryWhileBusy<T>(isBusy: (error: unknown) => boolean, attempt: () => Promise<T>): Promise<T> {
  const end = performance.now() + MAX_BUSY_WAIT_MS;
  for (let pause = 1; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() > end) throw error;
      await setTimeout(Math.random() * pause);
    }
  }
}
