import { sql } from 'kysely';
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
import { historyEntryOf, historyFromJson, historyToJson } from '../record-json.js';
import { migrateSchema } from './migrate-schema.js';
import { CompiledQueries } from './compiled-queries.js';
import { openError } from './open-error.js';
import { deliveryOf, leaseDeliveries, lockHandlers, openDeliveries, writeEvent, writeHandlers } from './outbox.js';
import type { SqlDialect } from './payment-schema.js';
import { recordOf, rowOf } from './payment-tables.js';
import { type PaymentDb, read, transaction, Undo } from './sql-connection.js';

const PURGE_BATCH = 200;

/** How a {@link SqlPaymentStore} treats its database. */
export interface SqlStoreOptions {
  /** Whether `open` makes and updates the tables itself (true). With false it only checks that they are there. */
  readonly migrate?: boolean;
}

/**
 * Keeps payments in SQLite or PostgreSQL. Made by `sqlitePaymentStore`, `postgresPaymentStore`, `sqlPaymentStore` or `openSqlStore`.
 *
 * On SQLite a Kysely instance has one connection, which a transaction has to itself: a payment that is made inside a transaction of
 * the same instance would wait for it forever. On PostgreSQL it would not be part of that transaction either: a payment is
 * written for good when its method resolves.
 */
export class SqlPaymentStore extends PaymentStore {
  private readonly db: PaymentDb;
  private readonly kept = new CompiledQueries();

  /** @param isOwner whether `close` ends the connections too: where the store made them */
  constructor(
    db: PaymentDb,
    private readonly dialect: SqlDialect,
    private readonly options: SqlStoreOptions = {},
    private readonly isOwner = false,
  ) {
    super();
    // A host's plugins may rename columns.
    this.db = db.withoutPlugins();
  }

  /** Connects, and makes or checks the tables. */
  override async open(): Promise<void> {
    try {
      await migrateSchema(this.db, this.dialect, this.options.migrate ?? true);
    } catch (error) {
      throw openError(error, this.dialect);
    }
  }

  override async close(): Promise<void> {
    if (this.isOwner) await this.db.destroy();
  }

  async insert(record: PaymentRecord, event?: PaymentEvent): Promise<UniqueKey | null> {
    // Who had the key may have let it go before it was looked at: then there is nothing in the way any more.
    for (;;) {
      const outcome = await this.tryInsert(record, event);
      if (outcome !== 'taken') return outcome;
      const key = await this.takenKey(record);
      if (key) return key;
    }
  }

  private tryInsert(record: PaymentRecord, event?: PaymentEvent): Promise<'taken' | 'referenceLock' | null> {
    return this.transaction(async (db) => {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('card_payment')
        .values(rowOf(record))
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow();
      if (numInsertedOrUpdatedRows === 0n) return 'taken';
      if (record.referenceLock !== null) await this.lockReference(db, record, record.referenceLock, 'referenceLock');
      await this.writeAlong(db, record, event);
      return null;
    });
  }

  private async takenKey(record: PaymentRecord): Promise<UniqueKey | null> {
    const { account, conversationId, idempotencyKey, tokenHash } = record;
    if (await this.find(account, conversationId)) return 'conversationId';
    if (idempotencyKey !== null && (await this.findByIdempotencyKey(account, idempotencyKey))) return 'idempotencyKey';
    if (tokenHash !== null && (await this.findByTokenHash(account, tokenHash))) return 'tokenHash';
    return null;
  }

  async replace(record: PaymentRecord, expectedVersion: number, event?: PaymentEvent): Promise<ReplaceOutcome> {
    const { account, conversationId, referenceLock } = record;
    const { account: _account, conversation_id: _id, ...changes } = rowOf(record);
    return this.transaction<ReplaceOutcome>(async (db) => {
      const values = [...Object.values(changes), account, conversationId, expectedVersion, account, conversationId];
      const { rows } = await this.kept.run(db, 'replace', values, (one) =>
        one
          .updateTable('card_payment')
          .set(changes)
          .where('account', '=', account)
          .where('conversation_id', '=', conversationId)
          .where('version', '=', expectedVersion)
          .returning((eb) =>
            eb
              .selectFrom('card_payment_reference_lock')
              .where('account', '=', account)
              .where('conversation_id', '=', conversationId)
              .select('reference')
              .as('held'),
          ),
      );
      const [replaced] = rows;
      if (!replaced) return 'stale';
      const { held } = replaced;
      if (held !== null && held !== referenceLock) await unlockReference(db, account, held);
      if (referenceLock !== null && held !== referenceLock)
        await this.lockReference(db, record, referenceLock, 'locked');
      await this.writeAlong(db, record, event);
      return 'replaced';
    });
  }

  private async writeAlong(db: PaymentDb, record: PaymentRecord, event?: PaymentEvent): Promise<void> {
    const { account, conversationId, version } = record;
    const entry = historyToJson(historyEntryOf(record));
    await this.kept.run(db, 'history', [account, conversationId, version, entry], (one) =>
      one.insertInto('card_payment_history').values({ account, conversation_id: conversationId, version, entry }),
    );
    if (!event) return;
    await lockHandlers(db, this.dialect, account, 'shared');
    await writeEvent(db, event);
  }

  /** Takes the reference for this payment, or undoes the transaction. */
  private async lockReference(
    db: PaymentDb,
    { account, conversationId }: PaymentRecord,
    reference: string,
    otherwise: UniqueKey | ReplaceOutcome,
  ): Promise<void> {
    const { numAffectedRows } = await this.kept.run(db, 'lock', [account, reference, conversationId], (one) =>
      one
        .insertInto('card_payment_reference_lock')
        .values({ account, reference, conversation_id: conversationId })
        .onConflict((conflict) => conflict.doNothing()),
    );
    if (numAffectedRows === 0n) throw new Undo(otherwise);
  }

  async find(account: string, conversationId: string): Promise<PaymentRecord | null> {
    const [row] = await read(this.records(account).where('conversation_id', '=', conversationId));
    return row ? recordOf(row) : null;
  }

  async findByTokenHash(account: string, tokenHash: string): Promise<PaymentRecord | null> {
    const [row] = await read(this.records(account).where('token_hash', '=', tokenHash));
    return row ? recordOf(row) : null;
  }

  async findByIdempotencyKey(account: string, idempotencyKey: string): Promise<PaymentRecord | null> {
    const [row] = await read(this.records(account).where('idempotency_key', '=', idempotencyKey));
    return row ? recordOf(row) : null;
  }

  async findByReference(account: string, reference: string): Promise<PaymentRecord[]> {
    const rows = await read(this.records(account).where('reference', '=', reference).orderBy('created_at'));
    return rows.map(recordOf);
  }

  /** Each state is asked for by itself, as the index has it. */
  async listByState(account: string, states: readonly PaymentState[], limit: number): Promise<PaymentRecord[]> {
    const found: PaymentRecord[] = [];
    for (const state of new Set(states)) {
      const rows = await read(this.records(account).where('state', '=', state).orderBy('updated_at').limit(limit));
      found.push(...rows.map(recordOf));
    }
    return found.sort((one, other) => one.updatedAt.getTime() - other.updatedAt.getTime()).slice(0, limit);
  }

  async history(account: string, conversationId: string): Promise<PaymentHistoryEntry[]> {
    const rows = await read(
      this.db
        .selectFrom('card_payment_history')
        .where('account', '=', account)
        .where('conversation_id', '=', conversationId)
        .select('entry')
        .orderBy('version'),
    );
    return rows.map(({ entry }) => historyFromJson(entry));
  }

  async leaseDue({ account, now, until, limit }: LeaseRequest): Promise<PaymentRecord[]> {
    return this.transaction(async (db) => {
      const rows = await db
        .selectFrom('card_payment')
        .where('account', '=', account)
        .where('due_at', '<=', now.getTime())
        .select(['conversation_id', 'record'])
        .orderBy('due_at')
        .limit(limit)
        .$if(this.dialect === 'postgres', (query) => query.forUpdate().skipLocked())
        .execute();
      if (rows.length === 0) return [];
      await db
        .updateTable('card_payment')
        .set({ due_at: until.getTime() })
        .where('account', '=', account)
        .where(
          'conversation_id',
          'in',
          rows.map((row) => row.conversation_id),
        )
        .execute();
      return rows.map((row) => recordOf({ ...row, due_at: until.getTime() }));
    });
  }

  async handBack(account: string, conversationId: string, version: number, dueAt: Date): Promise<void> {
    await this.transaction((db) =>
      db
        .updateTable('card_payment')
        .set({ due_at: dueAt.getTime() })
        .where('account', '=', account)
        .where('conversation_id', '=', conversationId)
        .where('version', '=', version)
        .execute(),
    );
  }

  async announceHandlers(account: string, handlers: readonly HandlerAnnouncement[], at: Date): Promise<void> {
    if (handlers.length === 0) return;
    await this.transaction(async (db) => {
      await lockHandlers(db, this.dialect, account, 'alone');
      await writeHandlers(db, account, handlers, at);
    });
  }

  leaseDeliveries(lease: LeaseRequest & { readonly handlerIds: readonly string[] }): Promise<Delivery[]> {
    return this.transaction((db) => leaseDeliveries(db, this.dialect, lease));
  }

  async acknowledge(account: string, handlerId: string, eventId: string): Promise<void> {
    await this.transaction((db) =>
      db
        .deleteFrom('card_payment_delivery')
        .where('account', '=', account)
        .where('handler_id', '=', handlerId)
        .where('event_id', '=', eventId)
        .execute(),
    );
  }

  async postpone({ account, handlerId, event, attempts, parked, error, dueAt }: Delivery): Promise<void> {
    await this.transaction((db) =>
      db
        .updateTable('card_payment_delivery')
        .set({
          attempts,
          parked: parked ? 1 : 0,
          error: error === null ? null : JSON.stringify(error),
          due_at: dueAt.getTime(),
        })
        .where('account', '=', account)
        .where('handler_id', '=', handlerId)
        .where('event_id', '=', event.eventId)
        .execute(),
    );
  }

  async listParked(account: string, limit: number): Promise<Delivery[]> {
    const rows = await read(openDeliveries(this.db, account).where('parked', '=', sql.lit(1)).limit(limit));
    return rows.map(deliveryOf);
  }

  async replay(account: string, handlerId: string, eventId: string, now: Date): Promise<boolean> {
    const { numUpdatedRows } = await this.transaction((db) =>
      db
        .updateTable('card_payment_delivery')
        .set({ attempts: 0, parked: 0, error: null, due_at: now.getTime() })
        .where('account', '=', account)
        .where('handler_id', '=', handlerId)
        .where('event_id', '=', eventId)
        .where('parked', '=', sql.lit(1))
        .executeTakeFirstOrThrow(),
    );
    return numUpdatedRows > 0n;
  }

  async purge(account: string, before: Date, handlersBefore: Date): Promise<PurgeCounts> {
    await this.transaction(async (db) => {
      await lockHandlers(db, this.dialect, account, 'alone');
      await forgetHandlers(db, account, handlersBefore);
    });
    let payments = 0;
    let events = 0;
    for (;;) {
      const batch = await this.transaction((db) => this.purgeBatch(db, account, before));
      payments += batch.payments;
      events += batch.events;
      if (batch.payments < PURGE_BATCH) return { payments, events };
    }
  }

  private async purgeBatch(db: PaymentDb, account: string, before: Date): Promise<PurgeCounts> {
    // So that no delivery can be made to what is about to go.
    await lockHandlers(db, this.dialect, account, 'alone');
    const rows = await db
      .selectFrom('card_payment as payment')
      .where('payment.account', '=', account)
      .where('payment.finalized_at', '<', before.getTime())
      .where((eb) =>
        eb.not(
          eb.exists(
            eb
              .selectFrom('card_payment_delivery as delivery')
              .whereRef('delivery.account', '=', 'payment.account')
              .whereRef('delivery.conversation_id', '=', 'payment.conversation_id')
              .select('delivery.version'),
          ),
        ),
      )
      .select('payment.conversation_id')
      .orderBy('payment.finalized_at')
      .limit(PURGE_BATCH)
      .$if(this.dialect === 'postgres', (query) => query.forUpdate('payment').skipLocked())
      .execute();
    if (rows.length === 0) return { payments: 0, events: 0 };

    const ids = rows.map((row) => row.conversation_id);
    await db
      .updateTable('card_payment_reference_lock')
      .set({ conversation_id: null })
      .where('account', '=', account)
      .where('conversation_id', 'in', ids)
      .execute();
    await db
      .deleteFrom('card_payment_history')
      .where('account', '=', account)
      .where('conversation_id', 'in', ids)
      .execute();
    const { numDeletedRows } = await db
      .deleteFrom('card_payment_event')
      .where('account', '=', account)
      .where('conversation_id', 'in', ids)
      .executeTakeFirstOrThrow();
    await db.deleteFrom('card_payment').where('account', '=', account).where('conversation_id', 'in', ids).execute();
    return { payments: ids.length, events: Number(numDeletedRows) };
  }

  private records(account: string) {
    return this.db.selectFrom('card_payment').where('account', '=', account).select(['record', 'due_at']);
  }

  private transaction<T>(work: (db: PaymentDb) => Promise<T>): Promise<T> {
    return transaction(this.db, this.dialect, work);
  }
}

async function unlockReference(db: PaymentDb, account: string, reference: string): Promise<void> {
  await db
    .deleteFrom('card_payment_reference_lock')
    .where('account', '=', account)
    .where('reference', '=', reference)
    .execute();
}

/** Deletes handlers that no one has announced since, and the deliveries of handlers that nobody knows. */
async function forgetHandlers(db: PaymentDb, account: string, since: Date): Promise<void> {
  await db
    .deleteFrom('card_payment_handler')
    .where('account', '=', account)
    .where('announced_at', '<', since.getTime())
    .execute();
  await db
    .deleteFrom('card_payment_delivery')
    .where('account', '=', account)
    .where((eb) =>
      eb(
        'handler_id',
        'not in',
        eb.selectFrom('card_payment_handler').where('account', '=', account).select('handler_id'),
      ),
    )
    .execute();
}
