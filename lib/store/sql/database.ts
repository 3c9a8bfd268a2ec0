import { type Compilable, CompiledQuery, type QueryResult, type RawBuilder, sql } from 'kysely';
import { setTimeout } from 'node:timers/promises';
import { type PaymentClock, SystemClock, TimeoutError, withTimeout } from '../../runtime/clock.js';
import type { SqlEngine, SqlStatement } from './engine.js';
import { SharedCommit } from './shared-commit.js';
import { execute, type PaymentDb, type Work } from './tables.js';

/** How long a caller waits for the database, whatever hangs. The work itself may still be done later. */
const MAX_CALL_MS = 25_000;

/** What differs between databases of one engine. */
export interface SqlDatabaseSettings {
  /** See `SqlAccess`; false unless known. */
  readonly hasLimitedSessions?: () => boolean;
  /** Where the time comes from instead of `SqlEngine.time`. */
  readonly clock?: PaymentClock | undefined;
}

/** A database: its connections, and how statements are written for it. */
export class SqlDatabase {
  /** Knows the password of its connections: a `#` field is never printed. */
  readonly #db: PaymentDb;
  private readonly queries = new Map<string, CompiledQuery>();
  private readonly clock: PaymentClock | null;
  private readonly hasLimitedSessions: () => boolean;
  private readonly sharedCommit: SharedCommit | null;

  constructor(
    db: PaymentDb,
    readonly engine: SqlEngine,
    { hasLimitedSessions = () => false, clock }: SqlDatabaseSettings = {},
  ) {
    // A host's plugins may rename columns.
    const plain = db.withoutPlugins();
    this.#db = engine.asTexts ? plain.withPlugin(engine.asTexts) : plain;
    this.clock = clock ?? (engine.time === null ? new SystemClock() : null);
    this.hasLimitedSessions = hasLimitedSessions;
    // Without the limit: a transaction that is given up may still be committed, and its work must not be done again.
    this.sharedCommit = engine.sharesCommits ? new SharedCommit(engine, (work) => this.inTransaction(work)) : null;
  }

  /** The store's time plus this many milliseconds: the database's time, or a clock's. */
  fromNow(ms = 0): RawBuilder<number> {
    const whole = Math.round(ms);
    if (this.clock) return sql<number>`${this.clock.now().getTime() + whole}`;
    return sql<number>`(${sql.raw(this.engine.time ?? '')} + ${sql.lit(whole)})`;
  }

  /** Appended to a query by `modifyEnd`: locks the rows that it finds, without those that others have locked. */
  get freeRows(): RawBuilder<unknown> {
    return sql.raw(this.engine.rowLock && `${this.engine.rowLock} ${this.engine.skipLocked}`);
  }

  /** Appended to a query by `modifyEnd`: locks the rows that it finds. */
  get allRows(): RawBuilder<unknown> {
    return sql.raw(this.engine.rowLock);
  }

  /** Appended to an insert by `modifyEnd`: see `SqlEngine.orOverwrite`. */
  orOverwrite(primaryKey: readonly string[], column: string): RawBuilder<unknown> {
    return sql.raw(this.engine.orOverwrite(primaryKey, column));
  }

  /**
   * Runs a query that is built and compiled once, and differs in its values alone afterwards. Kysely would do both at
   * each run, which takes a fifth of a payment's CPU time on SQLite.
   * @param values all values of the query, in the order of its text
   * @param db that of a transaction; without it the query is read outside of one
   */
  query<Row>(
    name: string,
    values: readonly unknown[],
    build: (db: PaymentDb) => Compilable<Row>,
    db?: PaymentDb,
  ): Promise<QueryResult<Row>> {
    const query = this.queries.get(name) ?? this.compile(name, values, build(this.#db));
    const run = (on: PaymentDb) => on.executeQuery<Row>({ ...(query as CompiledQuery<Row>), parameters: values });
    return db ? run(db) : this.read(run);
  }

  /** Runs a statement outside of a transaction, and again if it conflicted with another process. */
  async run({ sql: text, parameters = [] }: SqlStatement): Promise<unknown[]> {
    return (await this.read((db) => db.executeQuery(CompiledQuery.raw(text, [...parameters])))).rows;
  }

  /** Reads outside of a transaction. */
  read<T>(work: Work<T>): Promise<T> {
    return withinLimit(() => this.retried(() => work(this.#db)));
  }

  /** Runs work in a transaction that may write, and that other work may share; see {@link transaction}. */
  write<T>(work: Work<T>): Promise<T> {
    return withinLimit(() => this.sharedCommit?.run(work) ?? this.inTransaction(work));
  }

  /** Runs a single statement that writes: in a transaction only where that limits its time, or shares a commit. */
  single<T>(work: Work<T>): Promise<T> {
    return !this.sharedCommit && this.hasLimitedSessions() ? this.read(work) : this.write(work);
  }

  /** Runs work in a transaction that may write; runs it again if it conflicted with another process. */
  transaction<T>(work: Work<T>): Promise<T> {
    return withinLimit(() => this.inTransaction(work));
  }

  close(): Promise<void> {
    return withinLimit(() => this.#db.destroy());
  }

  private inTransaction<T>(work: Work<T>): Promise<T> {
    return this.#db.connection().execute((db) =>
      this.retried(async () => {
        for (const statement of this.engine.begin(this.hasLimitedSessions())) await execute(db, statement);
        try {
          const outcome = await work(db);
          await execute(db, 'commit');
          return outcome;
        } catch (error) {
          await execute(db, 'rollback').catch(() => undefined);
          throw error;
        }
      }),
    );
  }

  private compile(name: string, values: readonly unknown[], query: Compilable<unknown>): CompiledQuery {
    const { sql: text, parameters } = query.compile();
    // Kysely's compiler keeps the values of its last query, which are a payment's: the empty query has none.
    sql``.compile(this.#db);
    const isInOrder =
      parameters.length === values.length && parameters.every((value, index) => value === values[index]);
    if (!isInOrder) throw new Error(`The values of the query "${name}" are not in its order.`);
    const withoutValues = CompiledQuery.raw(text);
    this.queries.set(name, withoutValues);
    return withoutValues;
  }

  private retried<T>(attempt: () => Promise<T>): Promise<T> {
    return retryWhileBusy(this.engine.isBusy, attempt);
  }
}

function withinLimit<T>(work: () => Promise<T>): Promise<T> {
  return withTimeout(MAX_CALL_MS, work, undefined, () => new TimeoutError('the database does not answer'));
}

const MAX_BUSY_WAIT_MS = 10_000;
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
