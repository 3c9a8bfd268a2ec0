import type { Dialect, KyselyPlugin } from 'kysely';

/** Variables by name, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A statement in the database's own SQL, with a `?` for each of its parameters. */
export interface SqlStatement {
  readonly sql: string;
  readonly parameters?: readonly unknown[];
}

/** Runs a statement and returns the rows that it finds. */
export type RunStatement = (statement: SqlStatement) => Promise<unknown[]>;

/** How the tables are written for a database. */
export interface SchemaSyntax {
  /**
   * The type of a text column that is part of a key, with its length in bytes where the database needs one. Keys are
   * compared byte by byte: whether a key is taken must not depend on a locale.
   */
  readonly keyType: (maxBytes: number) => string;
  /** The type of JSON texts, of up to a mebibyte. */
  readonly jsonType: string;
  /** What ends a `create table`; `isCompact` where the rows are little more than their key. */
  readonly tableEnd: (isCompact: boolean) => string;
  /** What limits an index to the rows that meet a condition; empty if the database has no partial indexes. */
  readonly indexOf: (condition: string) => string;
  /** Whether a transaction can make tables; in MySQL and MariaDB each statement that makes one commits. */
  readonly isTransactional: boolean;
  /** The time in milliseconds since 1970 UTC. */
  readonly now: string;
}

/** How a database is reached. */
export interface SqlAccess {
  /** Connects at the first query. */
  readonly dialect: Dialect;
  /**
   * Whether each session has the database's time limits, and the isolation of transactions, from its beginning. Known
   * once the store is open.
   */
  readonly hasLimitedSessions: () => boolean;
}

/** What a database that is reached over a network has beyond one that is a file. */
export interface DatabaseServer {
  /** Where a client finds it if the URL says nothing of its port. */
  readonly port: number;
  /** The option of a URL with which the host is reached by verified TLS. */
  readonly tlsOption: string;
  /**
   * The host that is reached without TLS, or without checking the server's certificate; null if there is none.
   * @param environment whose variables the driver reads for what the URL does not say
   */
  readonly unprotectedHost: (url: string, environment: Environment) => string | null;
  /**
   * Looks at the server before anything is written.
   * @returns settings of the server with which it may lose what it has acknowledged, for a warning
   * @throws ShownError when it cannot keep the store's promises: it only looks like this database, for example
   */
  readonly check: (run: RunStatement) => Promise<readonly string[]>;
}

/**
 * Everything in which one database differs from another. The rest of the SQL store knows no database by name.
 *
 * An engine's file loads neither Kysely nor a driver by itself: printing the schema and checking a URL work where
 * neither is installed.
 */
export interface SqlEngine {
  /** Its name in code and on the command line. */
  readonly name: string;
  /** How an error begins; one of `failures` follows. */
  readonly displayName: string;

  /** What its URLs look like, for people. */
  readonly urlForm: string;
  readonly owns: (url: string) => boolean;
  /** The package that is installed beside Kysely. */
  readonly driver: string;
  /**
   * How Kysely reaches the database of a URL. With `mustExist`, a file that does not exist is not made, and the mode of
   * one that does stays as it is.
   * @throws Error that says what is wrong with the URL; it never shows the URL
   */
  readonly access: (library: typeof import('kysely'), url: string, mustExist?: boolean) => SqlAccess;
  /** Null for a database that is a file. */
  readonly server: DatabaseServer | null;

  readonly schema: SchemaSyntax;
  /** Finds a row when there is a table of this name. */
  readonly hasTable: (table: string) => SqlStatement;

  /**
   * The time in milliseconds since 1970 UTC, in a form by which an index can be searched. Null if this process's clock
   * is used, since only processes of one machine share such a database.
   */
  readonly time: string | null;
  /**
   * Begins a transaction that may write, that reads whatever others have committed, and that is limited: how long a
   * statement runs, how long it waits for a lock, and how long the transaction stays open when its process has
   * vanished.
   */
  readonly begin: (hasLimitedSession: boolean) => readonly string[];
  /** Whether one transaction at a time may write, on the one connection: then writes that wait share a commit. */
  readonly sharesCommits: boolean;
  /** Whether a query can lock the rows that it finds (`for update`), and skip those that others have locked. */
  readonly locksRows: boolean;
  /** Writes each `?` of a statement as the placeholder that the database has for a parameter, if it has another one. */
  readonly withPlaceholders?: (sql: string) => string;
  /** Ends an insert that, when its key is taken, sets one column of the row instead, unless by `on conflict`. */
  readonly orOverwrite?: (column: string) => string;
  /** Follows the name of a table, so that it is searched by this index, where the planner needs such a hint. */
  readonly indexHint?: (index: string) => string;
  /** Makes texts of what the driver returns for a column of bytes, if it returns no texts. */
  readonly asTexts?: KyselyPlugin;

  /** Whether the error is a conflict with another process: the same transaction or query may succeed a moment later. */
  readonly isBusy: (error: unknown) => boolean;
  /** Whether the error says that a unique key is taken. */
  readonly isTaken: (error: unknown) => boolean;
  /** Whether the error of a change of the schema says that it has been made already, besides {@link isTaken}. */
  readonly isThere: (error: unknown) => boolean;

  /** What the driver's error codes mean to an operator. */
  readonly failures: readonly (readonly [code: RegExp, meaning: string])[];
  /** Codes for errors that the driver throws without one. */
  readonly uncodedFailures: readonly (readonly [text: RegExp, code: string])[];
}
