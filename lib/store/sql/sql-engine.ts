import type { Dialect } from 'kysely';
import type { UpdatePayment } from './update-payment.js';

/** A statement in the database's own SQL, with its own placeholders. */
export interface SqlStatement {
  readonly sql: string;
  readonly parameters?: readonly unknown[];
}

/** How the tables are written down in a database. */
export interface SchemaSyntax {
  /** The type of texts that are keys. They are compared byte by byte: a unique key must not depend on a locale. */
  readonly keyType: string;
  /** The type of JSON texts, of up to a mebibyte. */
  readonly jsonType: string;
  /** What follows a table whose rows are hardly more than their key; empty where there is nothing to gain. */
  readonly compactTable: string;
  /** What makes an index one of the rows that meet the condition; empty where the database cannot. */
  readonly indexOf: (condition: string) => string;
  /** Now, in milliseconds since 1970 UTC. */
  readonly now: string;
}

/**
 * Everything by which one database differs from another. The rest of the SQL store knows no database by name.
 *
 * An engine's file loads neither Kysely nor a driver before `open` is called: the schema is printed, and a store's URL is checked, where
 * neither is installed.
 */
export interface SqlEngine {
  /** What it is called in code and on the command line. */
  readonly name: string;
  /** What it is called in an error, which goes on with one of `failures`. */
  readonly displayName: string;

  /** How its URLs look, for people. */
  readonly urlForm: string;
  readonly owns: (url: string) => boolean;
  /**
   * How Kysely reaches the database of a URL that it owns. Connects at the first query only.
   * @throws Error that names the packages to install, or what is wrong with the URL; it never shows the URL
   */
  readonly open: (url: string) => Promise<Dialect>;

  readonly schema: SchemaSyntax;
  /** Finds a row where there is such a table. */
  readonly hasTable: (table: string) => SqlStatement;
  /**
   * Lets one process at a time change the schema. Taken inside a transaction. `release` is empty where the end of the transaction
   * lets go of the lock.
   */
  readonly migrationLock: { readonly take: readonly SqlStatement[]; readonly release: readonly SqlStatement[] };

  /** Begins a transaction that writes, and that reads what others have committed. */
  readonly begin: readonly SqlStatement[];
  /** Whether another process was in the way, so that the same transaction or query may work in a moment. */
  readonly isBusy: (error: unknown) => boolean;
  /** What locks the found rows of a table until the transaction ends, and leaves out those that others have locked. */
  readonly rowLock: (table: string) => string;
  /**
   * Keeps others from changing (`shared`) or also from reading (`alone`) who handles what in an account, until the transaction
   * ends. Null where a transaction that writes is alone anyway.
   */
  readonly handlerLock: (account: string, mode: 'shared' | 'alone') => SqlStatement | null;

  /** What makes an insert do nothing, and count no row, where one of its unique keys is taken. */
  readonly unlessTaken: string;
  readonly updatePayment: UpdatePayment;

  /** What the driver's codes mean to an operator. */
  readonly failures: readonly (readonly [code: RegExp, meaning: string])[];
  /** Codes for what the driver throws without one. */
  readonly uncodedFailures: readonly (readonly [text: RegExp, code: string])[];
}
