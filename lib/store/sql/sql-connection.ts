import { setTimeout } from 'node:timers/promises';
import { CompiledQuery, type Kysely } from 'kysely';
import { codeOf } from './driver-code.js';
import type { SqlDialect } from './payment-schema.js';
import type { PaymentTables } from './payment-tables.js';

export type PaymentDb = Kysely<PaymentTables>;

const MAX_BUSY_WAIT_MS = 10_000;
const MAX_PAUSE_MS = 15;

/** Thrown to undo a transaction that has an outcome all the same. */
export class Undo extends Error {
  constructor(readonly outcome: unknown) {
    super('undone');
  }
}

/**
 * Runs work in a transaction that may write: on SQLite one that takes the right to write at once, so that it cannot come too late for
 * it; on PostgreSQL one that reads what is committed, whatever the database's default.
 */
export async function transaction<T>(
  db: PaymentDb,
  dialect: SqlDialect,
  work: (db: PaymentDb) => Promise<T>,
): Promise<T> {
  return db.connection().execute(async (connection) => {
    await begin(connection, dialect);
    try {
      const outcome = await work(connection);
      await run(connection, 'commit');
      return outcome;
    } catch (error) {
      await run(connection, 'rollback').catch(() => undefined);
      if (error instanceof Undo) return error.outcome as T;
      throw error;
    }
  });
}

/** Rows that are read outside a transaction. */
export function read<Row>(query: { execute(): Promise<Row[]> }): Promise<Row[]> {
  return whenFree(() => query.execute());
}

export async function run(db: PaymentDb, statement: string): Promise<void> {
  await db.executeQuery(CompiledQuery.raw(statement));
}

function begin(db: PaymentDb, dialect: SqlDialect): Promise<void> {
  if (dialect === 'postgres') return run(db, 'begin isolation level read committed');
  return whenFree(() => run(db, 'begin immediate'));
}

/** Tries until no other process is in the way. SQLite's own waiting would stop this process, and be less fair. */
export async function whenFree<T>(attempt: () => Promise<T>): Promise<T> {
  const end = performance.now() + MAX_BUSY_WAIT_MS;
  for (let pause = 1; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (!codeOf(error).startsWith('SQLITE_BUSY') || performance.now() > end) throw error;
      await setTimeout(Math.random() * pause);
    }
  }
}
