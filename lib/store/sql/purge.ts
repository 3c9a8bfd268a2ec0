import type { RawBuilder } from 'kysely';
import { setImmediate } from 'node:timers/promises';
import { type SqlDatabase, withinCallLimit } from './database.js';
import { MAX_WAIT_MS } from '../payment-store.js';
import { IS_REFUND, type PaymentDb, WAITING } from './tables.js';

/** How many settled payments a transaction reads. */
const PAYMENTS_BATCH = 200;
/** How many refunds a transaction deletes, unless one payment has more. */
const REFUNDS_BATCH = 1_000;
const NAMES_BATCH = 1_000;

/** The last payment that a batch of the purge read. */
export interface PurgePlace {
  readonly finalizedAt: number;
  readonly conversationId: string;
}

interface PurgeBatch {
  readonly payments: number;
  readonly events: number;
  readonly unheard: number;
  /** Null when there are no later ones. */
  readonly place: PurgePlace | null;
}

/** Deletes what the ledger no longer needs, until `end` (by `performance.now`), a batch in each transaction. */
export class LedgerPurge {
  constructor(
    private readonly database: SqlDatabase,
    private readonly account: string,
    private readonly end: number,
  ) {}

  /**
   * Deletes settled payments whose events have all been delivered, with their refunds, if the same is true of each of
   * these. Payments that others have locked, themselves or a refund, are left for the next purge; a refund that is
   * opened meanwhile waits for the lock of its payment.
   * @param from where an earlier purge stopped: from the beginning, it might never get past the payments that must stay
   */
  async purgePayments(
    paymentsMs: number,
    from: PurgePlace = { finalizedAt: 0, conversationId: '' },
  ): Promise<PurgeBatch> {
    let [payments, events, unheard] = [0, 0, 0];
    for (let start = from; ;) {
      const begin = start;
      const { place, ...purged } = await withinCallLimit(() => this.purgeBatch(paymentsMs, begin));
      payments += purged.payments;
      events += purged.events;
      unheard += purged.unheard;
      if (!place || performance.now() >= this.end) return { payments, events, unheard, place };
      start = place;
      // Without this, a database inside this process would block the event loop until the purge ends.
      await setImmediate();
    }
  }

  /**
   * Deletes the names of records that were purged that long ago.
   * @returns whether some may be left
   */
  async forgetNames(keysMs: number): Promise<boolean> {
    while ((await withinCallLimit(() => this.forgetSomeNames(keysMs))) === NAMES_BATCH) {
      if (performance.now() >= this.end) return true;
      await setImmediate();
    }
    return false;
  }

  private forgetSomeNames(keysMs: number): Promise<number> {
    const { database, account } = this;
    return database.transaction(async (db) => {
      const names = await db
        .selectFrom('card_payment_name')
        .where('account', '=', account)
        .where('conversation_id', 'is', null)
        .where('purged_at', '<', database.fromNow(-keysMs))
        .select('name')
        .orderBy('purged_at')
        .limit(NAMES_BATCH)
        .modifyEnd(database.freeRows)
        .execute();
      if (names.length === 0) return 0;
      await db
        .deleteFrom('card_payment_name')
        .where('account', '=', account)
        .where(
          'name',
          'in',
          names.map(({ name }) => name),
        )
        .execute();
      return names.length;
    });
  }

  private purgeBatch(paymentsMs: number, after: PurgePlace): Promise<PurgeBatch> {
    return this.database.transaction((db) => this.tryBatch(db, paymentsMs, after));
  }

  private async tryBatch(db: PaymentDb, paymentsMs: number, after: PurgePlace): Promise<PurgeBatch> {
    const settled = await this.settledAfter(db, paymentsMs, after);
    const ids = settled.map((row) => row.conversation_id);
    const { refunds, kept } = await this.refundsOf(db, ids, paymentsMs);
    const withRefunds = (id: string) => [id, ...(refunds.get(id) ?? [])];
    const batch = firstOf(ids, refunds);
    const busy = await this.busy(db, batch.flatMap(withRefunds));
    const purged = batch.filter((id) => !kept.has(id) && !withRefunds(id).some((record) => busy.has(record)));
    const { events, unheard } = await this.delete(db, purged.flatMap(withRefunds));
    const last = settled[batch.length - 1];
    const isEnd = batch.length === settled.length && settled.length < PAYMENTS_BATCH;
    const place =
      !last || isEnd ? null : { finalizedAt: Number(last.finalized_at), conversationId: last.conversation_id };
    return { payments: purged.length, events, unheard, place };
  }

  /** Locks the next settled payments. */
  private settledAfter(db: PaymentDb, paymentsMs: number, after: PurgePlace) {
    const { database, account } = this;
    return (
      db
        .selectFrom('card_payment')
        .where('account', '=', account)
        .where('is_refund', '=', IS_REFUND.payment)
        .where('finalized_at', '<', database.fromNow(-paymentsMs))
        // Some databases do not search an index by the comparison of pairs below.
        .where('finalized_at', '>=', after.finalizedAt)
        .where('due_at', 'is', null)
        .where((eb) =>
          eb(eb.refTuple('finalized_at', 'conversation_id'), '>', eb.tuple(after.finalizedAt, after.conversationId)),
        )
        .select(['conversation_id', 'finalized_at'])
        .orderBy('finalized_at')
        .orderBy('conversation_id')
        .limit(PAYMENTS_BATCH)
        .modifyEnd(database.freeRows)
        .execute()
    );
  }

  /**
   * Locks the refunds of these payments.
   * @returns those of each payment, and the payments that must stay: one of theirs was not settled that long ago, or is
   *   locked by others
   */
  private async refundsOf(db: PaymentDb, paymentIds: readonly string[], paymentsMs: number) {
    const [refunds, kept] = [new Map<string, string[]>(), new Set<string>()];
    if (paymentIds.length === 0) return { refunds, kept };
    const stored = db
      .selectFrom('card_payment')
      .where('account', '=', this.account)
      .where('parent_id', 'in', paymentIds)
      .select(['conversation_id', 'parent_id']);
    const old = stored.where('finalized_at', '<', this.database.fromNow(-paymentsMs));
    const locked = await old.modifyEnd(this.database.freeRows).execute();
    const lockedIds = new Set(locked.map((row) => row.conversation_id));
    for (const { conversation_id: id, parent_id: parentId } of await stored.execute()) {
      const paymentId = parentId ?? '';
      if (!refunds.has(paymentId)) refunds.set(paymentId, []);
      refunds.get(paymentId)?.push(id);
      if (!lockedIds.has(id)) kept.add(paymentId);
    }
    return { refunds, kept };
  }

  /** The records among these that have a delivery, or an event that may still be fanned out. */
  private async busy(db: PaymentDb, ids: readonly string[]): Promise<Set<string>> {
    const busy: string[] = [];
    for (const some of inChunks(ids)) busy.push(...(await this.busyOf(db, some)));
    return new Set(busy);
  }

  private async busyOf(db: PaymentDb, ids: readonly string[]): Promise<string[]> {
    const { account, database } = this;
    const deliveries = db
      .selectFrom('card_payment_delivery')
      .where('account', '=', account)
      .where('conversation_id', 'in', ids)
      .select(['event_id', 'conversation_id', 'type']);
    const overdue = deliveries.where('status', '=', WAITING).where('occurred_at', '<=', database.fromNow(-MAX_WAIT_MS));
    // Fan-out skips what is locked here, so that neither waits for the other.
    const locked = await overdue.modifyEnd(database.freeRows).execute();
    const pairs = await db.selectFrom('card_payment_handler').where('account', '=', account).select('type').execute();
    const known = new Set(pairs.map(({ type }) => type));
    const unheard = new Set(locked.filter(({ type }) => !known.has(type)).map((row) => row.event_id));
    const rows = await deliveries.execute();
    return rows.filter((row) => !unheard.has(row.event_id)).map((row) => row.conversation_id);
  }

  /**
   * Deletes records with their versions. Their tokens are free; the locks of their references stay for good and their
   * other names for a while, without an owner.
   * @returns how many events there were, and how many of them no handler ever took
   */
  private async delete(
    db: PaymentDb,
    ids: readonly string[],
  ): Promise<{ readonly events: number; readonly unheard: number }> {
    let [events, unheard] = [0, 0];
    for (const some of inChunks(ids)) {
      const deleted = await this.deleteOf(db, some);
      events += deleted.events;
      unheard += deleted.unheard;
    }
    return { events, unheard };
  }

  private async deleteOf(
    db: PaymentDb,
    ids: readonly string[],
  ): Promise<{ readonly events: number; readonly unheard: number }> {
    const { account, database } = this;
    const deleteFrom = (table: 'card_payment' | 'card_payment_version' | 'card_payment_delivery') =>
      db.deleteFrom(table).where('account', '=', account).where('conversation_id', 'in', ids);
    const waiting = await deleteFrom('card_payment_delivery').executeTakeFirstOrThrow();
    await db
      .deleteFrom('card_payment_name')
      .where('account', '=', account)
      .where('conversation_id', 'in', ids)
      .where('name', 'like', 'token:%')
      .execute();
    const disowned = (purgedAt: RawBuilder<number> | null, names: 'like' | 'not like') =>
      db
        .updateTable('card_payment_name')
        .set({ conversation_id: null, purged_at: purgedAt })
        .where('account', '=', account)
        .where('conversation_id', 'in', ids)
        .where('name', names, 'lock:%')
        .execute();
    await disowned(null, 'like');
    await disowned(database.fromNow(), 'not like');
    const { events } = await db
      .selectFrom('card_payment_version')
      .where('account', '=', account)
      .where('conversation_id', 'in', ids)
      .select(({ fn }) => fn.count('type').as('events'))
      .executeTakeFirstOrThrow();
    await deleteFrom('card_payment_version').execute();
    await deleteFrom('card_payment').execute();
    return { events: Number(events), unheard: Number(waiting.numDeletedRows) };
  }
}

/** The first of these payments, as many as have no more refunds than a transaction deletes; one if there are any. */
function firstOf(ids: readonly string[], refunds: ReadonlyMap<string, readonly string[]>): readonly string[] {
  let sum = 0;
  const end = ids.findIndex((id, index) => {
    sum += refunds.get(id)?.length ?? 0;
    return sum > REFUNDS_BATCH && index > 0;
  });
  return end === -1 ? ids : ids.slice(0, end);
}

/** Databases limit how many values a statement may have, and a payment may have any number of refunds. */
function inChunks(ids: readonly string[]): string[][] {
  const starts = Array.from({ length: Math.ceil(ids.length / REFUNDS_BATCH) }, (_, index) => index * REFUNDS_BATCH);
  return starts.map((start) => ids.slice(start, start + REFUNDS_BATCH));
}
