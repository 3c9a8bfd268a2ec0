import type { Kysely } from 'kysely';
import type { PaymentClock } from '../../payment/clock.js';
import type { PaymentEvent } from '../../payment/payment-event.js';
import type { PaymentState } from '../../payment/payment-state.js';
import type { PaymentHistoryEntry, PaymentRecord } from '../../payment/payment.js';
import type { LeaseRequest, ReplaceOutcome, UniqueKey } from '../payment-ledger.js';
import type { Delivery, DeliveryLeaseRequest, HandlerPair, LeasedDelivery, Postponement } from '../payment-outbox.js';
import { MAX_PURGE_MS, PaymentStore, type PurgeCounts, type Retention, type StoreCounts } from '../payment-store.js';
import { openError } from './driver-errors.js';
import { engineNamed, type SqlDialect } from './engines.js';
import { migrateSchema } from './payment-schema.js';
import type { PaymentDb, PaymentTables } from './payment-tables.js';
import { LedgerPurge, type PurgePlace } from './ledger-purge.js';
import { limited, SqlDatabase } from './sql-database.js';
import type { SqlAccess, SqlEngine, SqlWrites } from './sql-engine.js';
import { SqlLedger } from './sql-ledger.js';
import { SqlOutbox } from './sql-outbox.js';

/** How a {@link SqlPaymentStore} uses its database. */
export interface SqlStoreOptions {
  /** Whether `open` makes and updates the tables itself (true). With false it only checks that they are there. */
  readonly migrate?: boolean;
  /** For tests: where the store's time comes from, instead of PostgreSQL's clock or, with SQLite, this process's. */
  readonly clock?: PaymentClock | undefined;
}

/** Facts about the connections. */
interface ConnectionSettings extends Partial<Omit<SqlAccess, 'dialect'>> {
  /** Whether the store made its connections, and `close` ends them. */
  readonly isOwner?: boolean;
}

/**
 * Keeps payments in SQLite or PostgreSQL. Made by `sqlitePaymentStore`, `postgresPaymentStore`, `sqlPaymentStore` or
 * `openSqlStore`.
 *
 * On SQLite a Kysely instance has one connection, which a transaction has to itself: a payment made inside a
 * transaction of the same instance would wait for it forever. On PostgreSQL it would not be part of that transaction
 * either: a payment is committed when its method resolves.
 */
export class SqlPaymentStore extends PaymentStore {
  private readonly database: SqlDatabase;
  private readonly ledger: SqlLedger;
  private readonly outbox: SqlOutbox;
  private readonly writes: () => Promise<SqlWrites>;
  /** Where the last purge of an account stopped before its end. */
  private readonly purgePlaces = new Map<string, PurgePlace>();

  constructor(
    db: PaymentDb,
    private readonly engine: SqlEngine,
    private readonly options: SqlStoreOptions & ConnectionSettings = {},
  ) {
    super();
    this.database = new SqlDatabase(db, engine, options);
    let writes: Promise<SqlWrites> | undefined;
    this.writes = () => (writes ??= engine.writes());
    this.ledger = new SqlLedger(this.database, this.writes);
    this.outbox = new SqlOutbox(this.database, this.writes);
  }

  /** Connects, and makes or checks the tables. */
  override async open(): Promise<void> {
    try {
      await this.writes();
      await limited(() => migrateSchema(this.database, this.engine, this.options.migrate ?? true));
    } catch (error) {
      throw openError(error, this.engine);
    }
  }

  override async close(): Promise<void> {
    if (this.options.isOwner) await limited(() => this.database.db.destroy());
  }

  async now(): Promise<Date> {
    const time = this.database.db.selectNoFrom(this.database.fromNow().as('now'));
    const [row] = await limited(() => this.database.read(time));
    return new Date(Number(row?.now));
  }

  insert(record: PaymentRecord, event?: PaymentEvent): Promise<UniqueKey | null> {
    return limited(() => this.ledger.insert(record, event));
  }

  replace(record: PaymentRecord, expectedVersion: number, event?: PaymentEvent): Promise<ReplaceOutcome> {
    return limited(() => this.ledger.replace(record, expectedVersion, event));
  }

  find(account: string, conversationId: string): Promise<PaymentRecord | null> {
    return limited(() => this.ledger.find(account, conversationId));
  }

  findByTokenHash(account: string, tokenHash: string): Promise<PaymentRecord | null> {
    return limited(() => this.ledger.findByTokenHash(account, tokenHash));
  }

  findByIdempotencyKey(account: string, idempotencyKey: string): Promise<PaymentRecord | 'purged' | null> {
    return limited(() => this.ledger.findByIdempotencyKey(account, idempotencyKey));
  }

  findByReference(account: string, reference: string): Promise<PaymentRecord[]> {
    return limited(() => this.ledger.findByReference(account, reference));
  }

  listByState(account: string, states: readonly PaymentState[], limit: number): Promise<PaymentRecord[]> {
    return limited(() => this.ledger.listByState(account, states, limit));
  }

  history(account: string, conversationId: string): Promise<PaymentHistoryEntry[]> {
    return limited(() => this.ledger.history(account, conversationId));
  }

  leaseDue(lease: LeaseRequest): Promise<PaymentRecord[]> {
    return limited(() => this.ledger.leaseDue(lease));
  }

  handBack(account: string, conversationId: string, version: number, dueAt: Date): Promise<void> {
    return limited(() => this.ledger.handBack(account, conversationId, version, dueAt));
  }

  announce(account: string, pairs: readonly HandlerPair[]): Promise<void> {
    return limited(() => this.outbox.announce(account, pairs));
  }

  fanOut(account: string, limit: number): Promise<number> {
    return limited(() => this.outbox.fanOut(account, limit));
  }

  leaseDeliveries(lease: DeliveryLeaseRequest): Promise<Delivery[]> {
    return limited(() => this.outbox.leaseDeliveries(lease));
  }

  renewLease(delivery: LeasedDelivery, leaseMs: number): Promise<boolean> {
    return limited(() => this.outbox.renewLease(delivery, leaseMs));
  }

  acknowledge(account: string, handlerId: string, eventId: string): Promise<void> {
    return limited(() => this.outbox.acknowledge(account, handlerId, eventId));
  }

  postpone(delivery: LeasedDelivery, to: Postponement): Promise<void> {
    return limited(() => this.outbox.postpone(delivery, to));
  }

  listParked(account: string, limit: number): Promise<Delivery[]> {
    return limited(() => this.outbox.listParked(account, limit));
  }

  replay(account: string, handlerId: string, eventId: string): Promise<boolean> {
    return limited(() => this.outbox.replay(account, handlerId, eventId));
  }

  async purge(account: string, { paymentsMs, pairsMs, keysMs }: Retention): Promise<PurgeCounts> {
    const end = performance.now() + MAX_PURGE_MS;
    const hasPairs = await this.outbox.forgetPairs(account, pairsMs, end);
    const purge = new LedgerPurge(this.database, account, end);
    const hasKeys = await purge.forgetKeys(keysMs);
    const { place, ...counts } =
      paymentsMs === null
        ? { payments: 0, events: 0, place: null }
        : await purge.purgePayments(paymentsMs, this.purgePlaces.get(account));
    if (place) this.purgePlaces.set(account, place);
    else this.purgePlaces.delete(account);
    return hasPairs || hasKeys || place ? { ...counts, hasMore: true } : counts;
  }

  counts(account: string): Promise<StoreCounts> {
    return limited(async () => ({
      states: await this.ledger.countStates(account),
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
