import type { Dialect } from 'kysely';
import type { LedgerEvent } from '../../payment/ledger-event.js';
import type { PaymentRecord } from '../../payment/payment.js';
import type { Delivery, DeliveryLeaseRequest, ReplaceOutcome, UniqueKey } from '../payment-store.js';
import type { DeliveryKey } from './deliveries.js';
import type { SqlDatabase } from './sql-database.js';
import type { InProcessConnection, SqlStatement, SqlSyntax } from './sql-transaction.js';

/** Variables by name, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

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

/** Runs a statement and returns the rows that it finds. */
export type RunStatement = (statement: SqlStatement) => Promise<unknown[]>;

/** How a database is reached. */
export interface SqlAccess {
  /** Connects at the first query. */
  readonly dialect: Dialect;
  /**
   * Whether each session has the database's time limits, and the isolation of transactions, from its beginning, so that
   * a single statement needs no transaction to be limited. Known once the store is open.
   */
  readonly hasLimitedSessions: () => boolean;
  /**
   * The only connection to a database inside this process, which Kysely uses as well; null until it is open.
   * Transitions run on it without waiting, and share commits.
   */
  readonly inProcess?: () => InProcessConnection | null;
  /**
   * Whether a query may be several statements, with a semicolon between; see `SqlDatabase.script`. Known once the store
   * is open.
   */
  readonly takesScripts?: () => boolean;
}

/** How the ledger is written. Each method is atomic. */
export interface LedgerWrites {
  /** See `PaymentLedger.insert`. */
  readonly insert: (database: SqlDatabase, record: PaymentRecord, event?: LedgerEvent) => Promise<UniqueKey | null>;
  /** See `PaymentLedger.replace`. */
  readonly replace: (
    database: SqlDatabase,
    record: PaymentRecord,
    previous: PaymentRecord,
    event?: LedgerEvent,
  ) => Promise<ReplaceOutcome>;
}

/** What `leaseSome` did. */
export interface LeasedSome {
  readonly leased: Delivery[];
  /** False when deliveries were postponed because they wait for earlier ones: others may be due behind them. */
  readonly isDone: boolean;
}

/** How the outbox is written. Each method is atomic. */
export interface OutboxWrites {
  /** See `PaymentOutbox.fanOut`. Does nothing, or waits, while another process fans out events of the account. */
  readonly fanOut: (database: SqlDatabase, account: string, limit: number) => Promise<number>;
  /**
   * Reads the first due deliveries and leases those that wait for no earlier one. Where many wait, it postpones them,
   * so that the next call gets past them. Once the earlier one is removed or parked, they are due again.
   */
  readonly leaseSome: (database: SqlDatabase, request: DeliveryLeaseRequest) => Promise<LeasedSome>;
  /** See `PaymentOutbox.acknowledge`. */
  readonly acknowledge: (database: SqlDatabase, delivery: DeliveryKey) => Promise<void>;
}

/** The writes that differ most between databases. */
export interface SqlWrites {
  readonly ledgerWrites: LedgerWrites;
  readonly outboxWrites: OutboxWrites;
}

/**
 * Everything in which one database differs from another. The rest of the SQL store knows no database by name.
 *
 * An engine's file loads neither Kysely nor a driver until `open` or `writes` is called: printing the schema and
 * checking a URL work where neither is installed.
 */
export interface SqlEngine extends SqlSyntax {
  /** Its name in code and on the command line. */
  readonly name: string;
  /** How an error begins; one of `failures` follows. */
  readonly displayName: string;

  /** What its URLs look like, for people. */
  readonly urlForm: string;
  readonly owns: (url: string) => boolean;
  /**
   * How Kysely reaches the database of a URL.
   * @param options with `mustExist`, a database that does not exist is not made, and its mode stays as it is
   * @throws Error that names the packages to install, or says what is wrong with the URL; it never shows the URL
   */
  readonly open: (url: string, options?: { readonly mustExist?: boolean }) => Promise<SqlAccess>;
  /**
   * The host that is reached without TLS, or without checking the server's certificate; null if there is none.
   * @param environment whose variables the driver reads for what the URL does not say
   */
  readonly unprotectedHost: (url: string, environment: Environment) => string | null;
  /** The option of a URL with which the host is reached by verified TLS; null if there is no host. */
  readonly tlsOption: string | null;

  /**
   * Looks at the server before anything is written.
   * @returns settings of the server with which it may lose what it has acknowledged, for a warning
   * @throws UnfitServerError when it cannot keep the store's promises: it only looks like this database, for example
   */
  readonly checkServer: (run: RunStatement) => Promise<readonly string[]>;

  readonly schema: SchemaSyntax;
  /** Finds a row when there is a table of this name. */
  readonly hasTable: (table: string) => SqlStatement;
  /**
   * Runs a change of the schema while no other process can make one; waits for that for seconds only. If it fails or
   * the process ends, either nothing of it was done, or the change may be run again and passes over what was done.
   */
  readonly changeSchema: (database: SqlDatabase, change: (run: RunStatement) => Promise<void>) => Promise<void>;

  /** Loads the statements that write transitions and deliveries. */
  readonly writes: () => Promise<SqlWrites>;

  /** What the driver's error codes mean to an operator. */
  readonly failures: readonly (readonly [code: RegExp, meaning: string])[];
  /** Codes for errors that the driver throws without one. */
  readonly uncodedFailures: readonly (readonly [text: RegExp, code: string])[];
}
