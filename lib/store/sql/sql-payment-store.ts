import type { Kysely } from 'kysely';
import type { PaymentClock } from '../../runtime/clock.js';
import type { LedgerEvent } from '../../payment/payment-event.js';
import type { LedgerState } from '../../payment/states.js';
import type { PaymentHistoryEntry, PaymentRecord } from '../../payment/payment.js';
import { PaymentLogger } from '../../telemetry/payment-logger.js';
import {
  type Delivery,
  type DeliveryLeaseRequest,
  type DeliveryPage,
  type HandlerPair,
  type LeasedDelivery,
  type LeaseRequest,
  type ListPage,
  MAX_PURGE_MS,
  type PaymentStore,
  type Postponement,
  type PurgeCounts,
  type RecordType,
  type ReplaceOutcome,
  type ReplayOutcome,
  type Retention,
  type SettledPage,
  STORE_MARK,
  type StoreCounts,
  type RefusedKey,
} from '../payment-store.js';
import { SqlDatabase, type SqlDatabaseSettings, withinCallLimit } from './database.js';
import type { SqlEngine, SqlStatement } from './engine.js';
import { engineNamed, type SqlDialect } from './engines.js';
import { openError } from './errors.js';
import { SqlLedger } from './ledger.js';
import { SqlOutbox } from './outbox.js';
import { LedgerPurge, type PurgePlace } from './purge.js';
import { migrateSchema } from './schema.js';
import type { PaymentDb, PaymentTables } from './tables.js';

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
export class SqlPaymentStore implements PaymentStore {
  readonly [STORE_MARK] = true;
  private readonly database: SqlDatabase;
  private readonly ledger: SqlLedger;
  private readonly outbox: SqlOutbox;
  /** Where the last purge of an account stopped before its end. */
  private readonly purgePlaces = new Map<string, PurgePlace>();

  /** @hidden */
  constructor(
    db: PaymentDb,
    private readonly engine: SqlEngine,
    private readonly options: SqlStoreOptions & ConnectionSettings = {},
  ) {
    this.database = new SqlDatabase(db, engine, options);
    this.ledger = new SqlLedger(this.database);
    this.outbox = new SqlOutbox(this.database);
  }

  /** Connects, and makes or checks the tables. */
  async open(): Promise<void> {
    try {
      const run = (statement: SqlStatement) => this.database.run(statement);
      const warnings = await withinCallLimit(() => this.engine.checkServer(run));
      for (const warning of warnings) new PaymentLogger().warn(`The payment store: ${warning}.`);
      await withinCallLimit(() => migrateSchema(this.database, this.engine, this.options.migrate ?? true));
      if (this.options.mustWrite ?? true) await withinCallLimit(() => run(WRITES_NOTHING));
    } catch (error) {
      throw openError(error, this.engine);
    }
  }

  async close(): Promise<void> {
    if (this.options.isOwner) await withinCallLimit(() => this.database.db.destroy());
  }

  async now(): Promise<Date> {
    const now = this.database.fromNow().as('now');
    const read = () => this.database.read((db) => db.selectNoFrom(now).executeTakeFirstOrThrow());
    return new Date(Number((await withinCallLimit(read)).now));
  }

  insert(record: PaymentRecord, event?: LedgerEvent): Promise<RefusedKey | null> {
    return withinCallLimit(() => this.ledger.insert(record, event));
  }

  replace(next: PaymentRecord, previous: PaymentRecord, event?: LedgerEvent): Promise<ReplaceOutcome> {
    return withinCallLimit(() => this.ledger.replace(next, previous, event));
  }

  find(account: string, conversationId: string): Promise<PaymentRecord | null> {
    return withinCallLimit(() => this.ledger.find(account, conversationId));
  }

  findByTokenHash(account: string, tokenHash: string): Promise<PaymentRecord | null> {
    return withinCallLimit(() => this.ledger.findByTokenHash(account, tokenHash));
  }

  findByIdempotencyKey(
    account: string,
    type: RecordType,
    idempotencyKey: string,
  ): Promise<PaymentRecord | 'purged' | null> {
    return withinCallLimit(() => this.ledger.findByIdempotencyKey(account, type, idempotencyKey));
  }

  findByReferenceLock(account: string, reference: string): Promise<PaymentRecord | 'purged' | null> {
    return withinCallLimit(() => this.ledger.findByReferenceLock(account, reference));
  }

  isHeld(account: string, reference: string, unless: readonly LedgerState[]): Promise<boolean> {
    return withinCallLimit(() => this.ledger.isHeld(account, reference, unless));
  }

  findByReference(account: string, reference: string): Promise<PaymentRecord[]> {
    return withinCallLimit(() => this.ledger.findByReference(account, reference));
  }

  findRefunds(account: string, conversationId: string): Promise<PaymentRecord[]> {
    return withinCallLimit(() => this.ledger.findRefunds(account, conversationId));
  }

  listByState(
    account: string,
    type: RecordType,
    states: readonly LedgerState[],
    limit: number,
  ): Promise<PaymentRecord[]> {
    return withinCallLimit(() => this.ledger.listByState(account, type, states, limit));
  }

  list(page: ListPage): Promise<PaymentRecord[]> {
    return withinCallLimit(() => this.ledger.list(page));
  }

  listSettled(page: SettledPage): Promise<PaymentRecord[]> {
    return withinCallLimit(() => this.ledger.listSettled(page));
  }

  history(account: string, conversationId: string): Promise<PaymentHistoryEntry[]> {
    return withinCallLimit(() => this.ledger.history(account, conversationId));
  }

  leaseDue(lease: LeaseRequest): Promise<PaymentRecord[]> {
    return withinCallLimit(() => this.ledger.leaseDue(lease));
  }

  handBack(account: string, conversationId: string, version: number, dueAt: Date): Promise<void> {
    return withinCallLimit(() => this.ledger.handBack(account, conversationId, version, dueAt));
  }

  announce(account: string, pairs: readonly HandlerPair[]): Promise<void> {
    return withinCallLimit(() => this.outbox.announce(account, pairs));
  }

  fanOut(account: string, limit: number): Promise<number> {
    return withinCallLimit(() => this.outbox.fanOut(account, limit));
  }

  leaseDeliveries(lease: DeliveryLeaseRequest): Promise<Delivery[]> {
    return withinCallLimit(() => this.outbox.leaseDeliveries(lease));
  }

  renewLease(delivery: LeasedDelivery, leaseMs: number): Promise<boolean> {
    return withinCallLimit(() => this.outbox.renewLease(delivery, leaseMs));
  }

  acknowledge(account: string, handlerId: string, eventId: string): Promise<void> {
    return withinCallLimit(() => this.outbox.acknowledge(account, handlerId, eventId));
  }

  postpone(delivery: LeasedDelivery, to: Postponement): Promise<void> {
    return withinCallLimit(() => this.outbox.postpone(delivery, to));
  }

  listDeliveries(page: DeliveryPage): Promise<Delivery[]> {
    return withinCallLimit(() => this.outbox.listDeliveries(page));
  }

  replay(account: string, handlerId: string, eventId: string): Promise<ReplayOutcome> {
    return withinCallLimit(() => this.outbox.replay(account, handlerId, eventId));
  }

  async purge(account: string, { paymentsMs, pairsMs, keysMs }: Retention): Promise<PurgeCounts> {
    const end = performance.now() + MAX_PURGE_MS;
    const hasPairs = await this.outbox.forgetPairs(account, pairsMs, end);
    const purge = new LedgerPurge(this.database, account, end);
    const hasKeys = await purge.forgetNames(keysMs);
    const { place, ...counts } =
      paymentsMs === null
        ? { payments: 0, events: 0, unheard: 0, place: null }
        : await purge.purgePayments(paymentsMs, this.purgePlaces.get(account));
    if (place) this.purgePlaces.set(account, place);
    else this.purgePlaces.delete(account);
    return hasPairs || hasKeys || place ? { ...counts, hasMore: true } : counts;
  }

  otherGateways(account: string, own: readonly string[]): Promise<Readonly<Record<string, number>>> {
    return withinCallLimit(() => this.ledger.countOtherGateways(account, own));
  }

  counts(account: string): Promise<StoreCounts> {
    return withinCallLimit(async () => ({
      states: await this.ledger.countStates(account, 'payment'),
      refunds: await this.ledger.countStates(account, 'refund'),
      ...(await this.outbox.countDeliveries(account)),
    }));
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
