import type { PaymentClock } from '../../payment/clock.js';
import type { PaymentEvent } from '../../payment/payment-event.js';
import type { PaymentHistoryEntry, PaymentRecord } from '../../payment/payment.js';
import type { PaymentState } from '../../payment/payment-state.js';
import type { LeaseRequest, ReplaceOutcome, UniqueKey } from '../payment-ledger.js';
import type { Delivery, DeliveryLeaseRequest, HandlerPair, LeasedDelivery, Postponement } from '../payment-outbox.js';
import { MAX_PURGE_MS, PaymentStore, type PurgeCounts, type Retention, type StoreCounts } from '../payment-store.js';
import { countAll } from './counts.js';
import { parkedDeliveries, postponeDelivery, renewDeliveryLease, replayDelivery } from './deliveries.js';
import { openError } from './driver-errors.js';
import { announcePairs, forgetPairs } from './handler-pairs.js';
import { leaseDueDeliveries } from './lease-deliveries.js';
import { migrateSchema } from './migrate-schema.js';
import { handBackPayment, leaseDuePayments } from './payment-leases.js';
import { findPayment, findPaymentByKey, historyOf, paymentsInStates, paymentsOfReference } from './payment-queries.js';
import type { PaymentDb } from './payment-tables.js';
import { writesOf } from './payment-writes.js';
import { forgetKeys, purgePayments, type PurgePlace } from './purge.js';
import { SqlDatabase } from './sql-database.js';
import type { SqlAccess, SqlEngine } from './sql-engine.js';
import { withTimeout } from '../../payment/with-timeout.js';
import { MAX_CALL_MS } from './sql-engine.js';

/** How a {@link SqlPaymentStore} uses its database. */
export interface SqlStoreOptions {
  /** Whether `open` makes and updates the tables itself (true). With false it only checks that they are there. */
  readonly migrate?: boolean;
  /** For tests: where the store's time comes from, instead of PostgreSQL's clock or, with SQLite, this process's. */
  readonly clock?: PaymentClock | undefined;
}

/** What whoever made the connections knows of them. */
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
  /** Where the last purge of an account stopped, if it did. */
  private readonly purgePlaces = new Map<string, PurgePlace>();

  constructor(
    db: PaymentDb,
    engine: SqlEngine,
    private readonly options: SqlStoreOptions & ConnectionSettings = {},
  ) {
    super();
    this.database = new SqlDatabase(db, engine, options);
  }

  /** Connects, and makes or checks the tables. */
  override async open(): Promise<void> {
    try {
      await withTimeout(MAX_CALL_MS, () => migrateSchema(this.database, this.options.migrate ?? true));
    } catch (error) {
      throw openError(error, this.database.engine);
    }
  }

  override async close(): Promise<void> {
    if (this.options.isOwner) await withTimeout(MAX_CALL_MS, () => this.database.db.destroy());
  }

  async now(): Promise<Date> {
    const { db } = this.database;
    const time = db.selectNoFrom(this.database.fromNow().as('now'));
    const [row] = await withTimeout(MAX_CALL_MS, () => this.database.read(time));
    return new Date(Number(row?.now));
  }

  insert(record: PaymentRecord, event?: PaymentEvent): Promise<UniqueKey | null> {
    return withTimeout(MAX_CALL_MS, () => writesOf(this.database).insert(this.database, record, event));
  }

  replace(record: PaymentRecord, expectedVersion: number, event?: PaymentEvent): Promise<ReplaceOutcome> {
    return withTimeout(MAX_CALL_MS, () =>
      writesOf(this.database).replace(this.database, record, expectedVersion, event),
    );
  }

  find(account: string, conversationId: string): Promise<PaymentRecord | null> {
    return withTimeout(MAX_CALL_MS, () => findPayment(this.database, account, 'conversation_id', conversationId));
  }

  findByTokenHash(account: string, tokenHash: string): Promise<PaymentRecord | null> {
    return withTimeout(MAX_CALL_MS, () => findPayment(this.database, account, 'token_hash', tokenHash));
  }

  findByIdempotencyKey(account: string, idempotencyKey: string): Promise<PaymentRecord | 'purged' | null> {
    return withTimeout(MAX_CALL_MS, () => findPaymentByKey(this.database, account, idempotencyKey));
  }

  findByReference(account: string, reference: string): Promise<PaymentRecord[]> {
    return withTimeout(MAX_CALL_MS, () => paymentsOfReference(this.database, account, reference));
  }

  listByState(account: string, states: readonly PaymentState[], limit: number): Promise<PaymentRecord[]> {
    return withTimeout(MAX_CALL_MS, () => paymentsInStates(this.database, account, states, limit));
  }

  history(account: string, conversationId: string): Promise<PaymentHistoryEntry[]> {
    return withTimeout(MAX_CALL_MS, () => historyOf(this.database, account, conversationId));
  }

  leaseDue(lease: LeaseRequest): Promise<PaymentRecord[]> {
    return withTimeout(MAX_CALL_MS, () => leaseDuePayments(this.database, lease));
  }

  handBack(account: string, conversationId: string, version: number, dueAt: Date): Promise<void> {
    return withTimeout(MAX_CALL_MS, () => handBackPayment(this.database, account, conversationId, version, dueAt));
  }

  announce(account: string, pairs: readonly HandlerPair[]): Promise<void> {
    return withTimeout(MAX_CALL_MS, () => announcePairs(this.database, account, pairs));
  }

  fanOut(account: string, limit: number): Promise<number> {
    return withTimeout(MAX_CALL_MS, () => writesOf(this.database).fanOut(this.database, account, limit));
  }

  leaseDeliveries(lease: DeliveryLeaseRequest): Promise<Delivery[]> {
    return withTimeout(MAX_CALL_MS, () => leaseDueDeliveries(this.database, lease));
  }

  renewLease(delivery: LeasedDelivery, leaseMs: number): Promise<boolean> {
    return withTimeout(MAX_CALL_MS, () => renewDeliveryLease(this.database, delivery, leaseMs));
  }

  acknowledge(account: string, handlerId: string, eventId: string): Promise<void> {
    return withTimeout(MAX_CALL_MS, () =>
      writesOf(this.database).acknowledge(this.database, { account, handlerId, eventId }),
    );
  }

  postpone(delivery: LeasedDelivery, to: Postponement): Promise<void> {
    return withTimeout(MAX_CALL_MS, () => postponeDelivery(this.database, delivery, to));
  }

  listParked(account: string, limit: number): Promise<Delivery[]> {
    return withTimeout(MAX_CALL_MS, () => parkedDeliveries(this.database, account, limit));
  }

  replay(account: string, handlerId: string, eventId: string): Promise<boolean> {
    return withTimeout(MAX_CALL_MS, () => replayDelivery(this.database, account, handlerId, eventId));
  }

  async purge(account: string, { paymentsMs, pairsMs, keysMs }: Retention): Promise<PurgeCounts> {
    const end = performance.now() + MAX_PURGE_MS;
    const hasPairs = await forgetPairs(this.database, account, pairsMs, end);
    const hasKeys = await forgetKeys(this.database, account, keysMs, end);
    const { place, ...counts } =
      paymentsMs === null
        ? { payments: 0, events: 0, place: null }
        : await purgePayments(this.database, account, paymentsMs, end, this.purgePlaces.get(account));
    if (place) this.purgePlaces.set(account, place);
    else this.purgePlaces.delete(account);
    return hasPairs || hasKeys || place ? { ...counts, hasMore: true } : counts;
  }

  counts(account: string): Promise<StoreCounts> {
    return withTimeout(MAX_CALL_MS, () => countAll(this.database, account));
  }
}
