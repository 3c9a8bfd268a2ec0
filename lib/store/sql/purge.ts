import type { RawBuilder } from 'kysely';
import { setImmediate } from 'node:timers/promises';
import { MAX_PURGE_MS, MAX_WAIT_MS, type PurgeCounts, type Retention } from '../payment-store.js';
import type { SqlDatabase } from './database.js';
import { pairsOf } from './outbox.js';
import { IS_REFUND, OPEN, PARKED, type PaymentDb, WAITING } from './tables.js';

/** How many settled payments a transaction reads. */
const PAYMENTS_BATCH = 200;
/** How many refunds a transaction deletes, unless one payment has more. */
const REFUNDS_BATCH = 1_000;
const DELIVERIES_BATCH = 1_000;
const NAMES_BATCH = 1_000;

/** The last payment that a batch of the purge read. */
export interface PurgePlace {
  readonly finalizedAt: number;
  readonly conversationId: string;
}

const BEGINNING: PurgePlace = { finalizedAt: 0, conversationId: '' };

/** Deletes what a store no longer needs, until its time is over, a batch in each transaction. */
export class SqlPurge {
  private readonly end = performance.now() + MAX_PURGE_MS;

  /** Where it stopped before the last payment; null if it did not. */
  place: PurgePlace | null = null;

  constructor(
    private readonly database: SqlDatabase,
    private readonly account: string,
  ) {}

  /**
   * @param from where an earlier purge stopped: from the beginning, it might never get past the payments that must stay
   */
  async run({ paymentsMs, pairsMs, keysMs }: Retention, from = BEGINNING): Promise<PurgeCounts> {
    const hasPairs = await this.forgetPairs(pairsMs);
    const hasNames = await this.inBatches(() => this.forgetNames(keysMs));
    const counts = { payments: 0, events: 0, unheard: 0 };
    let start = from;
    const hasPayments =
      paymentsMs !== null &&
      (await this.inBatches(async () => {
        const batch = await this.database.transaction((db) => this.purgePayments(db, paymentsMs, start));
        counts.payments += batch.payments;
        counts.events += batch.events;
        counts.unheard += batch.unheard;
        start = batch.place ?? BEGINNING;
        return batch.place !== null;
      }));
    if (hasPayments) this.place = start;
    return hasPairs || hasNames || hasPayments ? { ...counts, hasMore: true } : counts;
  }

  /**
   * @param batch tells whether more is left
   * @returns whether more is left
   */
  private async inBatches(batch: () => Promise<boolean>): Promise<boolean> {
    while (await batch()) {
      if (performance.now() >= this.end) return true;
      // Without this, a database inside this process would block the event loop until the purge ends.
      await setImmediate();
    }
    return false;
  }

  /** Deletes pairs that were not announced for that long: first their deliveries. */
  private async forgetPairs(pairsMs: number): Promise<boolean> {
    const { database, account } = this;
    const oldPairs = (db: PaymentDb) => pairsOf(db, account).where('announced_at', '<', database.fromNow(-pairsMs));
    for (const pair of await database.read((db) => oldPairs(db).execute())) {
      const forget = (db: PaymentDb) => this.forgetPair(db, pair, oldPairs(db));
      if (await this.inBatches(() => database.transaction(forget))) return true;
    }
    return false;
  }

  private async forgetPair(
    db: PaymentDb,
    pair: { readonly handler_id: string; readonly type: string },
    oldPairs: ReturnType<typeof pairsOf>,
  ): Promise<boolean> {
    const { database, account } = this;
    // Until the pair is gone, no delivery for it may be created.
    const stillOld = oldPairs.where((eb) => eb.and(pair)).modifyEnd(database.allRows);
    if ((await stillOld.execute()).length === 0) return false;
    const deliveries = await db
      .selectFrom('card_payment_delivery')
      .where('account', '=', account)
      .where((eb) => eb.and(pair))
      .where('status', 'in', [OPEN, PARKED])
      .select('event_id')
      .limit(DELIVERIES_BATCH)
      .execute();
    if (deliveries.length > 0) {
      const ids = deliveries.map((row) => row.event_id);
      await db
        .deleteFrom('card_payment_delivery')
        .where('account', '=', account)
        .where('handler_id', '=', pair.handler_id)
        .where('event_id', 'in', ids)
        .execute();
    }
    if (deliveries.length === DELIVERIES_BATCH) return true;
    await db
      .deleteFrom('card_payment_handler')
      .where('account', '=', account)
      .where((eb) => eb.and(pair))
      .execute();
    return false;
  }

  /** Deletes the names of records that were purged that long ago. */
  private forgetNames(keysMs: number): Promise<boolean> {
    const { database, account } = this;
    return database.transaction(async (db) => {
      const rows = await db
        .selectFrom('card_payment_name')
        .where('account', '=', account)
        .where('conversation_id', 'is', null)
        .where('purged_at', '<', database.fromNow(-keysMs))
        .select('name')
        .orderBy('purged_at')
        .limit(NAMES_BATCH)
        .modifyEnd(database.freeRows)
        .execute();
      if (rows.length === 0) return false;
      const names = rows.map(({ name }) => name);
      await db.deleteFrom('card_payment_name').where('account', '=', account).where('name', 'in', names).execute();
      return rows.length === NAMES_BATCH;
    });
  }

  /**
   * Deletes settled payments whose events have all been delivered, with their refunds, if the same is true of each of
   * these. Payments that others have locked, themselves or a refund, are left for the next purge; a refund that is
   * opened meanwhile waits for the lock of its payment.
   * @returns the place of the last one that was looked at; null when there are no later ones
   */
  private async purgePayments(db: PaymentDb, paymentsMs: number, after: PurgePlace) {
    const settled = await this.settledAfter(db, paymentsMs, after);
    const ids = settled.map((row) => row.conversation_id);
    const { refunds, kept } = await this.refundsOf(db, ids, paymentsMs);
    const withRefunds = (id: string) => [id, ...(refunds.get(id) ?? [])];
    const batch = firstOf(ids, refunds);
    const [busy, unheard] = [new Set<string>(), [] as string[]];
    for (const some of inChunks(batch.flatMap(withRefunds))) {
      const owed = await this.owedOf(db, some);
      for (const id of owed.busy) busy.add(id);
      unheard.push(...owed.unheard);
    }
    const purged = batch.filter((id) => !kept.has(id) && !withRefunds(id).some((record) => busy.has(record)));
    const records = purged.flatMap(withRefunds);
    let events = 0;
    for (const some of inChunks(records)) events += await this.delete(db, some);
    const last = settled[batch.length - 1];
    const isEnd = batch.length === settled.length && settled.length < PAYMENTS_BATCH;
    const place =
      !last || isEnd ? null : { finalizedAt: Number(last.finalized_at), conversationId: last.conversation_id };
    const isPurged = new Set(records);
    return { payments: purged.length, events, unheard: unheard.filter((id) => isPurged.has(id)).length, place };
  }

  /** Locks the next settled payments. */
  private settledAfter(db: PaymentDb, paymentsMs: number, { finalizedAt, conversationId }: PurgePlace) {
    const { database, account } = this;
    return (
      db
        .selectFrom('card_payment')
        .where('account', '=', account)
        .where('is_refund', '=', IS_REFUND.payment)
        .where('finalized_at', '<', database.fromNow(-paymentsMs))
        // Some databases do not search an index by the comparison of pairs below.
        .where('finalized_at', '>=', finalizedAt)
        .where('due_at', 'is', null)
        .where((eb) => eb(eb.refTuple('finalized_at', 'conversation_id'), '>', eb.tuple(finalizedAt, conversationId)))
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
      const ofPayment = refunds.get(paymentId) ?? [];
      ofPayment.push(id);
      refunds.set(paymentId, ofPayment);
      if (!lockedIds.has(id)) kept.add(paymentId);
    }
    return { refunds, kept };
  }

  /**
   * @returns the records among these that have a delivery, or an event that may still be fanned out; and that of each
   *   event which no handler ever took
   */
  private async owedOf(db: PaymentDb, ids: readonly string[]) {
    const { account, database } = this;
    // Fan-out skips what is locked here, so that neither waits for the other.
    const overdue = await db
      .selectFrom('card_payment_delivery')
      .where('account', '=', account)
      .where('conversation_id', 'in', ids)
      .where('status', '=', WAITING)
      .where('occurred_at', '<=', database.fromNow(-MAX_WAIT_MS))
      .select(['event_id', 'conversation_id', 'type'])
      .modifyEnd(database.freeRows)
      .execute();
    const known = new Set((await pairsOf(db, account).execute()).map(({ type }) => type));
    const unheard = overdue.filter(({ type }) => !known.has(type));
    const unheardIds = new Set(unheard.map((row) => row.event_id));
    // The nodes of a Galera cluster lock no rows for each other: a pair can be forgotten while another one fans out to
    // it. Such deliveries are nobody's. Pairs are looked for with the deliveries: new ones may be announced meanwhile.
    const owed = await db
      .selectFrom('card_payment_delivery as delivery')
      .leftJoin('card_payment_handler as pair', (join) =>
        join
          .onRef('pair.account', '=', 'delivery.account')
          .onRef('pair.type', '=', 'delivery.type')
          .onRef('pair.handler_id', '=', 'delivery.handler_id'),
      )
      .where('delivery.account', '=', account)
      .where('delivery.conversation_id', 'in', ids)
      .where((eb) => eb.or([eb('delivery.status', '=', WAITING), eb('pair.handler_id', 'is not', null)]))
      .select(['delivery.event_id', 'delivery.conversation_id'])
      .execute();
    const busy = owed.filter((row) => !unheardIds.has(row.event_id));
    return { busy: busy.map((row) => row.conversation_id), unheard: unheard.map((row) => row.conversation_id) };
  }

  /**
   * Deletes records with their versions. Their tokens are free; the locks of their references stay for good and their
   * other names for a while, without an owner.
   * @returns how many events there were
   */
  private async delete(db: PaymentDb, ids: readonly string[]): Promise<number> {
    const { account, database } = this;
    const deleteFrom = (table: 'card_payment' | 'card_payment_version' | 'card_payment_delivery') =>
      db.deleteFrom(table).where('account', '=', account).where('conversation_id', 'in', ids);
    await deleteFrom('card_payment_delivery').execute();
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
    return Number(events);
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
