import { type Compilable, CompiledQuery, type QueryResult, type RawBuilder } from 'kysely';
import type { PaymentClock } from '../../payment/clock.js';
import { CompiledQueries } from './compiled-queries.js';
import { GroupCommit } from './group-commit.js';
import type { PaymentDb } from './payment-tables.js';
import { retryWhileBusy } from './retry-while-busy.js';
import type { InProcessConnection, SqlEngine, SqlStatement } from './sql-engine.js';
import { ask, runSteps, type Steps } from './steps.js';
import { StoreTime } from './store-time.js';
import { Undo } from './undo.js';

/** What differs between databases of one engine. */
export interface SqlDatabaseSettings {
  /** See `SqlAccess`; false unless known. */
  readonly hasLimitedSessions?: () => boolean;
  /** See `SqlAccess`. */
  readonly inProcess?: (() => InProcessConnection | null) | undefined;
  /** Where the time comes from instead of the engine's {@link SqlEngine.time}. */
  readonly clock?: PaymentClock | undefined;
}

/** A database and its engine. */
export class SqlDatabase {
  /** It knows the password of its connections: private to the language, too, so that nothing prints it. */
  readonly #db: PaymentDb;
  private readonly queries: CompiledQueries;
  private readonly time: StoreTime;
  private readonly hasLimitedSessions: () => boolean;
  private readonly inProcess: () => InProcessConnection | null;
  private readonly groupCommit: GroupCommit | null;

  constructor(
    db: PaymentDb,
    readonly engine: SqlEngine,
    { hasLimitedSessions = () => false, inProcess, clock }: SqlDatabaseSettings = {},
  ) {
    // A host's plugins may rename columns.
    this.#db = db.withoutPlugins();
    this.time = new StoreTime(engine.time, clock);
    this.queries = new CompiledQueries(this.#db);
    this.hasLimitedSessions = hasLimitedSessions;
    this.inProcess = inProcess ?? (() => null);
    this.groupCommit = inProcess ? new GroupCommit(engine, (use) => this.withInProcess(use)) : null;
  }

  get db(): PaymentDb {
    return this.#db;
  }

  /** So many milliseconds from now, by the store's time. */
  fromNow(ms?: number): RawBuilder<number> {
    return this.time.fromNow(ms);
  }

  /** A query that differs in its values alone: see {@link CompiledQueries}. */
  query<Row>(name: string, values: readonly unknown[], build: (db: PaymentDb) => Compilable<Row>): CompiledQuery<Row> {
    return this.queries.of(name, values, build);
  }

  /** Runs work in a transaction that may write, and may be shared; see {@link transaction}. */
  write<T>(work: () => Steps<T>): Promise<T> {
    return this.groupCommit?.run(work) ?? this.transaction((db) => runSteps(db, work()));
  }

  /** Runs work in a transaction that may write; runs it again when another process was in the way. */
  transaction<T>(work: (db: PaymentDb) => Promise<T>): Promise<T> {
    return this.db
      .connection()
      .execute((connection) => retryWhileBusy(this.engine.isBusy, () => this.tryTransaction(connection, work)));
  }

  /** Runs a single statement that writes: in a transaction where that is needed to limit it in time, or to share it. */
  statement<Row>(query: CompiledQuery<Row>): Promise<QueryResult<Row>> {
    const isLimited = this.engine.limits.length === 0 || this.hasLimitedSessions();
    if (!isLimited || this.groupCommit) return this.write(() => ask(query));
    return retryWhileBusy(this.engine.isBusy, () => this.db.executeQuery(query));
  }

  private async tryTransaction<T>(connection: PaymentDb, work: (db: PaymentDb) => Promise<T>): Promise<T> {
    await runAll(connection, this.engine.begin);
    try {
      if (!this.hasLimitedSessions()) await runAll(connection, this.engine.limits);
      const outcome = await work(connection);
      await run(connection, { sql: 'commit' });
      return outcome;
    } catch (error) {
      await run(connection, { sql: 'rollback' }).catch(() => undefined);
      if (error instanceof Undo) return error.outcome as T;
      throw error;
    }
  }

  /** Rows that are read outside a transaction. */
  read<Row>(query: { execute(): Promise<Row[]> }): Promise<Row[]> {
    return retryWhileBusy(this.engine.isBusy, () => query.execute());
  }

  /** The same, of a {@link query}; at once where the database is part of this process. */
  find<Row>(query: CompiledQuery<Row>): Promise<Row[]> {
    return retryWhileBusy(this.engine.isBusy, async () => {
      const connection = this.inProcess();
      // What a transaction has not committed yet is not to be seen.
      const isFree = connection !== null && !connection.inTransaction;
      return (isFree ? connection.execute<Row>(query) : await this.db.executeQuery(query)).rows;
    });
  }

  /** Gives the connection inside this process while no {@link transaction} has it. */
  private withInProcess(use: (connection: InProcessConnection) => Promise<void>): Promise<void> {
    return this.db.connection().execute(async () => {
      const connection = this.inProcess();
      if (!connection) throw new Error('the database is not open');
      await use(connection);
    });
  }
}

export function compiled({ sql, parameters = [] }: SqlStatement): CompiledQuery {
  return CompiledQuery.raw(sql, [...parameters]);
}

/** @returns the rows it finds */
export async function run(db: PaymentDb, statement: SqlStatement): Promise<unknown[]> {
  return (await db.executeQuery(compiled(statement))).rows;
}

export async function runAll(db: PaymentDb, statements: readonly SqlStatement[]): Promise<void> {
  for (const statement of statements) await run(db, statement);
}
