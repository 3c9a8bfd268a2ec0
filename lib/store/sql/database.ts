import { CompiledQuery, type QueryResult } from 'kysely';
import { type PaymentClock, SystemClock, TimeoutError, withTimeout } from '../../runtime/clock.js';
import type { SqlEngine, SqlStatement } from './engine.js';
import { ShownError } from './errors.js';
import { retryWhileBusy } from './retry.js';
import { SharedCommit } from './shared-commit.js';
import { raw, sql, type Statement } from './statement.js';
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
  fromNow(ms = 0): Statement {
    const whole = Math.round(ms);
    if (this.clock) return sql`${this.clock.now().getTime() + whole}`;
    return raw(`(${this.engine.time} + ${whole})`);
  }

  /** Ends a query, and locks the rows that it finds, without those that others have locked. */
  get freeRows(): Statement {
    return raw(this.engine.locksRows ? 'for update skip locked' : '');
  }

  /** Ends a query, and locks the rows that it finds. */
  get allRows(): Statement {
    return raw(this.engine.locksRows ? 'for update' : '');
  }

  /** Ends an insert so that, when this primary key is taken, it sets one column of the row instead. */
  orOverwrite(primaryKey: readonly string[], column: string): Statement {
    const onConflict = `on conflict (${primaryKey.join(', ')}) do update set ${column} = excluded.${column}`;
    return raw(this.engine.orOverwrite?.(column) ?? onConflict);
  }

  /**
   * @param db that of a transaction; without it the statement runs outside of one, and again if it conflicted with
   *   another process
   * @returns the rows that it finds
   */
  async run<Row>(statement: SqlStatement, db?: PaymentDb): Promise<Row[]> {
    return (await this.execute<Row>(statement, db)).rows;
  }

  /** Runs a statement in a transaction. @returns how many rows it has changed */
  async change(statement: SqlStatement, db: PaymentDb): Promise<number> {
    return changedRows(await this.execute(statement, db));
  }

  /** Runs work in a transaction that may write, and that other work may share; see {@link transaction}. */
  write<T>(work: Work<T>): Promise<T> {
    return withinLimit(() => this.sharedCommit?.run(work) ?? this.inTransaction(work));
  }

  /**
   * Runs a single statement that writes: in a transaction only where that limits its time, or shares a commit.
   * @returns how many rows it has changed
   */
  async single(statement: SqlStatement): Promise<number> {
    if (this.sharedCommit || !this.hasLimitedSessions()) return this.write((db) => this.change(statement, db));
    return changedRows(await this.execute(statement));
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

  private execute<Row>({ sql: text, parameters = [] }: SqlStatement, db?: PaymentDb): Promise<QueryResult<Row>> {
    const query = CompiledQuery.raw(this.engine.withPlaceholders?.(text) ?? text, [
      ...parameters,
    ]) as CompiledQuery<Row>;
    if (db) return db.executeQuery(query);
    return withinLimit(() => this.retried(() => this.#db.executeQuery(query)));
  }

  private retried<T>(attempt: () => Promise<T>): Promise<T> {
    return retryWhileBusy(this.engine.isBusy, attempt);
  }
}

/** @throws ShownError if a dialect of the host's own does not say: a write would count as one that came too late */
function changedRows({ numAffectedRows }: QueryResult<unknown>): number {
  if (numAffectedRows === undefined)
    throw new ShownError('the Kysely dialect must say how many rows a statement changed');
  return Number(numAffectedRows);
}

function withinLimit<T>(work: () => Promise<T>): Promise<T> {
  return withTimeout(MAX_CALL_MS, work, undefined, () => new TimeoutError('the database does not answer'));
}
