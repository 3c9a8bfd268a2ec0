import type { Dialect, QueryResult } from 'kysely';

/** How long a caller of the store waits, whatever hangs. What it waited for may still be done. */
export const MAX_CALL_MS = 25_000;

/** A statement in the database's own SQL, with its own placeholders. */
export interface SqlStatement {
  readonly sql: string;
  readonly parameters?: readonly unknown[];
}

/** Variables by name, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** How the tables are written down in a database. */
export interface SchemaSyntax {
  /** The type of texts that are keys. They are compared byte by byte: a unique key must not depend on a locale. */
  readonly keyType: string;
  /** The type of JSON texts, of up to a mebibyte. */
  readonly jsonType: string;
  /** What is appended to a table whose rows are little more than their key; empty where there is nothing to gain. */
  readonly compactTable: string;
  /** What limits an index to the rows that meet a condition; empty where the database cannot. */
  readonly indexOf: (condition: string) => string;
  /** Now, in milliseconds since 1970 UTC. */
  readonly now: string;
}

/** A connection to a database inside this process: a statement is done when the call returns. */
export interface InProcessConnection {
  /** Whether a transaction is under way on it. */
  readonly inTransaction: boolean;
  execute<Row>(statement: SqlStatement): QueryResult<Row>;
}

/** How a database is reached. */
export interface SqlAccess {
  /** Connects at the first query only. */
  readonly dialect: Dialect;
  /**
   * Whether each session has the database's limits in time from its beginning, so that a single statement needs no
   * transaction to be bounded. Known once the store is open.
   */
  readonly hasLimitedSessions: () => boolean;
  /**
   * The one connection of a database that is part of this process, which Kysely uses, too; null before it is open. Then
   * transitions run on it at once, and share commits.
   */
  readonly inProcess?: () => InProcessConnection | null;
}

/**
 * Everything in which one database differs from another. The rest of the SQL store knows no database by name.
 *
 * An engine's file loads neither Kysely nor a driver before `open` is called: printing the schema and checking a URL
 * work where neither is installed.
 */
export interface SqlEngine {
  /** What it is called in code and on the command line. */
  readonly name: string;
  /** How an error begins, which goes on with one of `failures`. */
  readonly displayName: string;

  /** How its URLs look, for people. */
  readonly urlForm: string;
  readonly owns: (url: string) => boolean;
  /**
   * How Kysely reaches the database of a URL.
   * @param options `mustExist`: a database that does not exist is not made, and its mode stays as it is
   * @throws Error that names the packages to install, or says what is wrong with the URL; it never shows the URL
   */
  readonly open: (url: string, options?: { readonly mustExist?: boolean }) => Promise<SqlAccess>;

  /**
   * The host that is reached without TLS, or without looking at the server's certificate; null where there is none.
   * @param environment whose variables the driver reads for what the URL does not say
   */
  readonly unprotectedHost: (url: string, environment: Environment) => string | null;

  readonly schema: SchemaSyntax;
  /**
   * What time it is, in milliseconds since 1970 UTC, as a condition on an index can use it; null where this process's
   * clock says so, since only the processes of one machine share such a database.
   */
  readonly time: string | null;
  /** Finds a row when there is such a table. */
  readonly hasTable: (table: string) => SqlStatement;
  /**
   * Lets one process at a time change the schema. `take` runs inside a transaction, and waits for seconds only;
   * `release` is empty where the lock ends with the transaction.
   */
  readonly migrationLock: { readonly take: readonly SqlStatement[]; readonly release: readonly SqlStatement[] };

  /** Begins a transaction that may write and that reads whatever others have committed. */
  readonly begin: readonly SqlStatement[];
  /**
   * Limits the transaction that has just begun: how long a statement runs, how long it waits for a lock, and how long
   * the transaction outlives a process that has vanished. Empty where nothing of this can happen.
   */
  readonly limits: readonly SqlStatement[];
  /** Whether another process was in the way, so that the same transaction or query may succeed in a moment. */
  readonly isBusy: (error: unknown) => boolean;
  /**
   * What is appended to a query to lock the rows of a table that it finds, and to skip those that others have locked.
   */
  readonly rowLock: (table: string) => string;
  /**
   * Keeps others from fanning out an account's events until the transaction ends; waits for seconds only. Null where a
   * transaction that may write is alone anyway.
   */
  readonly fanOutLock: ((account: string) => SqlStatement) | null;

  /** What is appended to an insert so that it does nothing, and counts no row, when a unique key is taken. */
  readonly unlessTaken: string;
  /**
   * How transitions are written and events fanned out: in a transaction of several statements, or in one, in
   * PostgreSQL's SQL. Fan-out locks the events that it takes, or is alone: a purge leaves locked ones alone.
   */
  readonly writes: 'inTransaction' | 'inOneStatement';

  /** What the driver's error codes mean to an operator. */
  readonly failures: readonly (readonly [code: RegExp, meaning: string])[];
  /** Codes for errors that the driver throws without one. */
  readonly uncodedFailures: readonly (readonly [text: RegExp, code: string])[];
}
