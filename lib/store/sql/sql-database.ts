import { type Compilable, CompiledQuery, type QueryResult, type RawBuilder, sql } from 'kysely';
import { type PaymentClock, SystemClock } from '../../payment/clock.js';
import { TimeoutError, withTimeout } from '../../payment/with-timeout.js';
import { GroupCommit } from './group-commit.js';
import type { PaymentDb } from './payment-tables.js';
import {
  ask,
  type InProcessConnection,
  retryWhileBusy,
  runSteps,
  type SqlStatement,
  type SqlSyntax,
  type Steps,
  Undo,
} from './sql-transaction.js';

const MAX_CALL_MS = 25_000;

/** Makes a caller of the store wait for 25 seconds at most, whatever hangs. The work itself may still be done later. */
export function limited<T>(work: () => Promise<T>): Promise<T> {
  return withTimeout(MAX_CALL_MS, work, undefined, () => new TimeoutError('the database does not answer'));
}

/** What differs between databases of one engine. */
export interface SqlDatabaseSettings {
  /** See `SqlAccess`; false unless known. */
  readonly hasLimitedSessions?: () => boolean;
  /** See `SqlAccess`. */
  readonly inProcess?: (() => InProcessConnection | null) | undefined;
  /** See `SqlAccess`. */
  readonly takesScripts?: (() => boolean) | undefined;
  /** Where the time comes from instead of {@link SqlSyntax.time}. */
  readonly clock?: PaymentClock | undefined;
}

/** A database: its connections, and how statements are written for it. */
export class SqlDatabase {
  /** Knows the password of its connections: a `#` field is never printed. */
  readonly #db: PaymentDb;
  private readonly queries = new Map<string, CompiledQuery>();
  private readonly clock: PaymentClock | null;
  private readonly hasLimitedSessions: () => boolean;
  private readonly inProcess: () => InProcessConnection | null;
  private readonly mayScript: () => boolean;
  private readonly groupCommit: GroupCommit | null;

  constructor(
    db: PaymentDb,
    readonly syntax: SqlSyntax,
    { hasLimitedSessions = () => false, inProcess, takesScripts = () => false, clock }: SqlDatabaseSettings = {},
  ) {
    // A host's plugins may rename columns.
    const plain = db.withoutPlugins();
    this.#db = syntax.asTexts ? plain.withPlugin(syntax.asTexts) : plain;
    this.mayScript = takesScripts;
    this.clock = clock ?? (syntax.time === null ? new SystemClock() : null);
    this.hasLimitedSessions = hasLimitedSessions;
    this.inProcess = inProcess ?? (() => null);
    this.groupCommit = inProcess ? new GroupCommit(syntax, (use) => this.withInProcess(use)) : null;
  }

  get db(): PaymentDb {
    return this.#db;
  }

  /** Whether {@link script} may be used. */
  get takesScripts(): boolean {
    return this.mayScript();
  }

  /** The store's time plus this many milliseconds: the database's time, or a clock's. */
  fromNow(ms = 0): RawBuilder<number> {
    const whole = Math.round(ms);
    if (this.clock) return sql<number>`${this.clock.now().getTime() + whole}`;
    return sql<number>`(${sql.raw(this.syntax.time ?? '')} + ${sql.lit(whole)})`;
  }

  /** Appended to a query by `modifyEnd`: see {@link SqlSyntax.rowLock}. */
  rowLock(table: string): RawBuilder<unknown> {
    return sql.raw(this.syntax.rowLock(table));
  }

  /** Appended to an insert by `modifyEnd`: see {@link SqlSyntax.unlessTaken}. */
  get unlessTaken(): RawBuilder<unknown> {
    return sql.raw(this.syntax.unlessTaken);
  }

  /** Appended to an insert by `modifyEnd`: see {@link SqlSyntax.orOverwrite}. */
  orOverwrite(primaryKey: readonly string[], column: string): RawBuilder<unknown> {
    return sql.raw(this.syntax.orOverwrite(primaryKey, column));
  }

  /**
   * A query that is built and compiled once, and differs in its values alone afterwards. Kysely would do both at each
   * run, which takes a fifth of a payment's CPU time on SQLite.
   * @param values all values of the query, in the order of its text
   */
  query<Row>(name: string, values: readonly unknown[], build: (db: PaymentDb) => Compilable<Row>): CompiledQuery<Row> {
    const query = this.queries.get(name) ?? this.compile(name, values, build(this.#db));
    return { ...(query as CompiledQuery<Row>), parameters: values };
  }

  /**
   * Runs a statement on the connection of a transaction; or outside of one, and then again if it conflicted with another
   * process.
   * @returns the rows that it finds
   */
  async run(statement: SqlStatement, transaction?: PaymentDb): Promise<unknown[]> {
    const query = compiled(statement);
    if (transaction) return (await transaction.executeQuery(query)).rows;
    return (await retryWhileBusy(this.syntax.isBusy, () => this.#db.executeQuery(query))).rows;
  }

  /** Runs work in a transaction that may write and that may be shared with other work; see {@link transaction}. */
  write<T>(work: () => Steps<T>): Promise<T> {
    return this.groupCommit?.run(work) ?? this.transaction((db) => runSteps(db, work()));
  }

  /** Runs work in a transaction that may write; runs it again if it conflicted with another process. */
  transaction<T>(work: (db: PaymentDb) => Promise<T>): Promise<T> {
    return this.#db
      .connection()
      .execute((connection) => retryWhileBusy(this.syntax.isBusy, () => this.tryTransaction(connection, work)));
  }

  /**
   * Runs a transaction whose statements go to the database together, in one round trip; runs it again if it conflicted
   * with another process. When a statement fails, those after it are not run, and the transaction is undone.
   * @returns what the driver returns for each statement
   */
  script(statements: readonly SqlStatement[]): Promise<unknown[]> {
    const all = [...this.syntax.begin.slice(-1), ...statements, { sql: 'commit' }];
    const query = compiled({
      sql: all.map(({ sql: text }) => text).join(';\n'),
      parameters: statements.flatMap(({ parameters = [] }) => parameters),
    });
    return this.#db.connection().execute((connection) =>
      retryWhileBusy(this.syntax.isBusy, async () => {
        try {
          const { rows } = await connection.executeQuery(query);
          if (rows.length !== all.length) throw new Error('the database did not run all statements');
          return rows.slice(1, -1);
        } catch (error) {
          await this.run({ sql: 'rollback' }, connection).catch(() => undefined);
          throw error;
        }
      }),
    );
  }

  /** Runs a single statement that writes: in a transaction only where that limits its time, or shares a commit. */
  statement<Row>(query: CompiledQuery<Row>): Promise<QueryResult<Row>> {
    const isLimited = this.syntax.limits.length === 0 || this.hasLimitedSessions();
    if (!isLimited || this.groupCommit) return this.write(() => ask(query));
    return retryWhileBusy(this.syntax.isBusy, () => this.#db.executeQuery(query));
  }

  /** Reads rows outside a transaction. */
  read<Row>(query: { execute(): Promise<Row[]> }): Promise<Row[]> {
    return retryWhileBusy(this.syntax.isBusy, () => query.execute());
  }

  /**
   * Reads rows by a {@link query}, likewise outside a transaction; without waiting if the database is inside this
   * process.
   */
  find<Row>(query: CompiledQuery<Row>): Promise<Row[]> {
    return retryWhileBusy(this.syntax.isBusy, async () => {
      const connection = this.inProcess();
      // In an open transaction, it would read what is not committed yet.
      const isFree = connection !== null && !connection.inTransaction;
      return (isFree ? connection.execute<Row>(query) : await this.#db.executeQuery(query)).rows;
    });
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

  private async tryTransaction<T>(connection: PaymentDb, work: (db: PaymentDb) => Promise<T>): Promise<T> {
    const begin = this.hasLimitedSessions() ? this.syntax.begin.slice(-1) : this.syntax.begin;
    for (const statement of begin) await this.run(statement, connection);
    try {
      if (!this.hasLimitedSessions()) {
        for (const statement of this.syntax.limits) await this.run(statement, connection);
      }
      const outcome = await work(connection);
      await this.run({ sql: 'commit' }, connection);
      return outcome;
    } catch (error) {
      await this.run({ sql: 'rollback' }, connection).catch(() => undefined);
      if (error instanceof Undo) return error.outcome as T;
      throw error;
    }
  }

  /** Gives the connection inside this process while no {@link transaction} has it. */
  private withInProcess(use: (connection: InProcessConnection) => Promise<void>): Promise<void> {
    return this.#db.connection().execute(async () => {
      const connection = this.inProcess();
      if (!connection) throw new Error('the database is not open');
      await use(connection);
    });
  }
}

export function compiled({ sql: text, parameters = [] }: SqlStatement): CompiledQuery {
  return CompiledQuery.raw(text, [...parameters]);
}
