import type { CompiledQuery, QueryResult } from 'kysely';
import type { PaymentDb } from './payment-tables.js';
import type { InProcessConnection } from './sql-engine.js';

/**
 * The work of a transaction, one statement after the other: it yields each, and is given what came of it. So the same
 * work runs over a connection that has to be waited for, and at once where the database is part of this process.
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
