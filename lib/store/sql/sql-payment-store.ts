import type { PaymentEvent } from '../../payment/payment-event.js';
import type { PaymentHistoryEntry, PaymentRecord, PaymentState } from '../../payment/payment.js';
import {
  type Delivery,
  type HandlerAnnouncement,
  type LeaseRequest,
  PaymentStore,
  type PurgeCounts,
  type ReplaceOutcome,
  type UniqueKey,
} from '../payment-store.js';
import { handBackPayment, leaseDuePayments } from './payment-leases.js';
import { deleteDelivery, leaseDueDeliveries, parkedDeliveries, replayDelivery, updateDelivery } from './deliveries.js';
import { openError } from './driver-errors.js';
import { forgetHandlers, writeHandlers } from './handlers.js';
import { migrateSchema } from './migrate-schema.js';
import { findPayment, historyOf, paymentsInStates, paymentsOfReference } from './payment-queries.js';
import type { PaymentDb } from './payment-tables.js';
import { insertPayment, replacePayment } from './payment-writes.js';
import { purgePayments } from './purge.js';
import { SqlDatabase } from './sql-database.js';
import type { SqlEngine } from './sql-engine.js';

/** How a {@link SqlPaymentStore} uses its database. */
export interface SqlStoreOptions {
  /** Whether `open` makes and updates the tables itself (true). With false it only checks that they are there. */
  readonly migrate?: boolean;
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

  /** @param isOwner whether the store made its connections, and `close` ends them */
  constructor(
    db: PaymentDb,
    engine: SqlEngine,
    private readonly options: SqlStoreOptions = {},
    private readonly isOwner = false,
  ) {
    super();
    this.database = new SqlDatabase(db, engine);
  }

  /** Connects, and makes or checks the tables. */
  override async open(): Promise<void> {
    try {
      await migrateSchema(this.database, this.options.migrate ?? true);
    } catch (error) {
      throw openError(error, this.database.engine);
    }
  }

  override async close(): Promise<void> {
    if (this.isOwner) await this.database.db.destroy();
  }

  insert(record: PaymentRecord, event?: PaymentEvent): Promise<UniqueKey | null> {
    return insertPayment(this.database, record, event);
  }

  replace(record: PaymentRecord, expectedVersion: number, event?: PaymentEvent): Promise<ReplaceOutcome> {
    return replacePayment(this.database, record, expectedVersion, event);
  }

  find(account: string, conversationId: string): Promise<PaymentRecord | null> {
    return findPayment(this.database, account, 'conversation_id', conversationId);
  }

  findByTokenHash(account: string, tokenHash: string): Promise<PaymentRecord | null> {
    return findPayment(this.database, account, 'token_hash', tokenHash);
  }

  findByIdempotencyKey(account: string, idempotencyKey: string): Promise<PaymentRecord | null> {
    return findPayment(this.database, account, 'idempotency_key', idempotencyKey);
  }

  findByReference(account: string, reference: string): Promise<PaymentRecord[]> {
    return paymentsOfReference(this.database, account, reference);
  }

  listByState(account: string, states: readonly PaymentState[], limit: number): Promise<PaymentRecord[]> {
    return paymentsInStates(this.database, account, states, limit);
  }

  history(account: string, conversationId: string): Promise<PaymentHistoryEntry[]> {
    return historyOf(this.database, account, conversationId);
  }

  leaseDue(lease: LeaseRequest): Promise<PaymentRecord[]> {
    return leaseDuePayments(this.database, lease);
  }

  handBack(account: string, conversationId: string, version: number, dueAt: Date): Promise<void> {
    return handBackPayment(this.database, account, conversationId, version, dueAt);
  }

  announceHandlers(account: string, handlers: readonly HandlerAnnouncement[], at: Date): Promise<void> {
    return writeHandlers(this.database, account, handlers, at);
  }

  leaseDeliveries(lease: LeaseRequest & { readonly handlerIds: readonly string[] }): Promise<Delivery[]> {
    return leaseDueDeliveries(this.database, lease);
  }

  acknowledge(account: string, handlerId: string, eventId: string): Promise<void> {
    return deleteDelivery(this.database, account, handlerId, eventId);
  }

  postpone(delivery: Delivery): Promise<void> {
    return updateDelivery(this.database, delivery);
  }

  listParked(account: string, limit: number): Promise<Delivery[]> {
    return parkedDeliveries(this.database, account, limit);
  }

  replay(account: string, handlerId: string, eventId: string, now: Date): Promise<boolean> {
    return replayDelivery(this.database, account, handlerId, eventId, now);
  }

  async purge(account: string, before: Date, handlersBefore: Date): Promise<PurgeCounts> {
    await forgetHandlers(this.database, account, handlersBefore);
    return purgePayments(this.database, account, before);
  }
}
