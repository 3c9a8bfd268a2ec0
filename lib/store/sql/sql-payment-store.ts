import type { Kysely } from 'kysely';
import type { PaymentClock } from '../../runtime/clock.js';
import { PaymentLogger } from '../../telemetry/payment-logger.js';
import { type PaymentStore, type PurgeCounts, type Retention, STORE_MARK, type StoreCounts } from '../payment-store.js';
import { SqlDatabase, type SqlDatabaseSettings } from './database.js';
import type { SqlEngine, SqlStatement } from './engine.js';
import { engineNamed, type SqlDialect } from './engines.js';
import { openError } from './errors.js';
import { SqlOutbox } from './outbox.js';
import { type PurgePlace, SqlPurge } from './purge.js';
import { migrateSchema } from './schema.js';
import { sql } from './statement.js';
import { type PaymentDb, type PaymentTables, toDate } from './tables.js';

/** How a {@link SqlPaymentStore} uses its database. */
export interface SqlStoreOptions {
  /** Whether `open` makes and updates the tables itself (true). With false it only checks that they are there. */
  readonly migrate?: boolean;
  /** For tests: where the store's time comes from, instead of PostgreSQL's clock or, with SQLite, this process's. */
  readonly clock?: PaymentClock | undefined;
}

/** Facts about the connections. */
interface ConnectionSettings extends SqlDatabaseSettings {
  /** Whether the store made its connections, and `close` ends them. */
  readonly isOwner?: boolean;
  /** Whether `open` refuses a database that can only be read. Default true. */
  readonly mustWrite?: boolean;
}

/** Refused by a server that is read-only, and by one on which this user may not write. */
const WRITES_NOTHING = { sql: 'update card_payment_handler set account = account where 1 = 0' };

/**
 * Keeps payments in SQLite, PostgreSQL, MySQL or MariaDB. Made by `sqlitePaymentStore`, `postgresPaymentStore`,
 * `mysqlPaymentStore`, `sqlPaymentStore` or `openSqlStore`.
 *
 * On SQLite a Kysely instance has one connection, which a transaction has to itself: a payment made inside a
 * transaction of the same instance would wait for it forever. On the others it would not be part of that transaction
 * either: a payment is committed when its method resolves.
 */
export class SqlPaymentStore extends SqlOutbox implements PaymentStore {
  readonly [STORE_MARK] = true;
  /** Where the last purge of an account stopped before its end. */
  private readonly purgePlaces = new Map<string, PurgePlace>();

  /** @hidden */
  constructor(
    db: PaymentDb,
    private readonly engine: SqlEngine,
    private readonly options: SqlStoreOptions & ConnectionSettings = {},
  ) {
    super(new SqlDatabase(db, engine, options));
  }

  /** Connects, and makes or checks the tables. */
  async open(): Promise<void> {
    try {
      const run = (statement: SqlStatement) => this.database.run(statement);
      const warnings = (await this.engine.server?.check(run)) ?? [];
      for (const warning of warnings) new PaymentLogger().warn(`The payment store: ${warning}.`);
      await migrateSchema(run, this.engine, this.options.migrate ?? true);
      if (this.options.mustWrite ?? true) await this.database.single(WRITES_NOTHING);
    } catch (error) {
      throw openError(error, this.engine);
    }
  }

  async close(): Promise<void> {
    if (this.options.isOwner) await this.database.close();
  }

  async now(): Promise<Date> {
    const [row] = await this.database.run<{ readonly now: number }>(sql`select ${this.database.fromNow()} as now`);
    return toDate(row!.now);
  }

  async purge(account: string, retention: Retention): Promise<PurgeCounts> {
    const purge = new SqlPurge(this.database, account);
    const counts = await purge.run(retention, this.purgePlaces.get(account));
    if (purge.place) this.purgePlaces.set(account, purge.place);
    else this.purgePlaces.delete(account);
    return counts;
  }

  async counts(account: string): Promise<StoreCounts> {
    return {
      states: await this.countStates(account, 'payment'),
      refunds: await this.countStates(account, 'refund'),
      ...(await this.countDeliveries(account)),
    };
  }
}

/** A Kysely instance of the host, so that payments and orders can be in one database. The host destroys it. */
export interface KyselyStoreOptions<Tables> extends SqlStoreOptions {
  readonly db: Kysely<Tables>;
  readonly dialect: SqlDialect;
}

/**
 * Keeps payments in the database of a Kysely instance. On SQLite set `journal_mode = WAL` and `synchronous = FULL` on
 * its connection: without the second, a power cut can lose payments that were reported as stored.
 */
export function sqlPaymentStore<Tables>({ db, dialect, ...options }: KyselyStoreOptions<Tables>): SqlPaymentStore {
  return new SqlPaymentStore(db as unknown as Kysely<PaymentTables>, engineNamed(dialect), options);
}
