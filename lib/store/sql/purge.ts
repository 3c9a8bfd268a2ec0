import { setImmediate } from 'node:timers/promises';
import { MAX_PURGE_MS, MAX_WAIT_MS, type PurgeCounts, type Retention } from '../payment-store.js';
import type { SqlDatabase } from './database.js';
import { type HandlerRow, pairsOf } from './outbox.js';
import { isPast, sql, type Statement } from './statement.js';
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
    const oldPairs = () => sql`${pairsOf(account)} and announced_at < ${database.fromNow(-pairsMs)}`;
    for (const { handler_id: handlerId, type } of await database.run<HandlerRow>(oldPairs())) {
      const pair = sql`account = ${account} and handler_id = ${handlerId} and type = ${type}`;
      const forget = (db: PaymentDb) => this.forgetPair(db, pair, sql`${oldPairs()} and ${pair}`);
      if (await this.inBatches(() => database.transaction(forget))) return true;
    }
    return false;
  }

  private async forgetPair(db: PaymentDb, pair: Statement, stillOld: Statement): Promise<boolean> {
    const { database } = this;
    // Until the pair is gone, no delivery for it may be created.
    if ((await database.run(sql`${stillOld} ${database.allRows}`, db)).length === 0) return false;
    const deliveries = await database.run<{ readonly event_id: string }>(
      sql`select event_id from card_payment_delivery
        where ${pair} and status in ${[OPEN, PARKED]} limit ${DELIVERIES_BATCH}`,
      db,
    );
    if (deliveries.length > 0) {
      const ids = deliveries.map((row) => row.event_id);
      await database.run(sql`delete from card_payment_delivery where ${pair} and event_id in ${ids}`, db);
    }
    if (deliveries.length === DELIVERIES_BATCH) return true;
    await database.run(sql`delete from card_payment_handler where ${pair}`, db);
    return false;
  }

  /** Deletes the names of records that were purged that long ago. */
  private forgetNames(keysMs: number): Promise<boolean> {
    const { database, account } = this;
    return database.transaction(async (db) => {
      const rows = await database.run<{ readonly name: string }>(
        sql`select name from card_payment_name
          where account = ${account} and conversation_id is null and purged_at < ${database.fromNow(-keysMs)}
          order by purged_at limit ${NAMES_BATCH} ${database.freeRows}`,
        db,
      );
      if (rows.length === 0) return false;
      const names = rows.map(({ name }) => name);
      await database.run(sql`delete from card_payment_name where account = ${account} and name in ${names}`, db);
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
    const found = await this.settledAfter(db, paymentsMs, after);
    const batch = firstOf(found);
    const ids = batch.map((row) => row.conversation_id);
    const { paymentOf, kept } = await this.refundsOf(db, ids, paymentsMs);
    const unheard: string[] = [];
    for (const some of inChunks([...paymentOf.keys()])) {
      const owed = await this.owedOf(db, some);
      for (const id of owed.busy) kept.add(paymentOf.get(id)!);
      unheard.push(...owed.unheard);
    }
    const isPurged = (id: string) => !kept.has(paymentOf.get(id)!);
    let events = 0;
    for (const some of inChunks([...paymentOf.keys()].filter(isPurged))) events += await this.delete(db, some);
    const last = batch.at(-1);
    const isEnd = batch.length === found.length && found.length < PAYMENTS_BATCH;
    const place =
      !last || isEnd ? null : { finalizedAt: Number(last.finalized_at), conversationId: last.conversation_id };
    return { payments: ids.filter(isPurged).length, events, unheard: unheard.filter(isPurged).length, place };
  }

  /** Locks the next settled payments. */
  private settledAfter(db: PaymentDb, paymentsMs: number, { finalizedAt, conversationId }: PurgePlace) {
    const { database, account } = this;
    return database.run<SettledRow>(
      sql`select conversation_id, finalized_at, refunds from card_payment
        where account = ${account} and is_refund = ${IS_REFUND.payment} and due_at is null
          and finalized_at < ${database.fromNow(-paymentsMs)}
          and ${isPast({ finalized_at: finalizedAt, conversation_id: conversationId }, '>')}
        order by finalized_at, conversation_id limit ${PAYMENTS_BATCH} ${database.freeRows}`,
      db,
    );
  }

  /**
   * Locks the refunds of these payments.
   * @returns the payment of each refund, and of itself; and the payments that must stay: a refund of theirs was not
   *   settled that long ago, or is locked by others
   */
  private async refundsOf(db: PaymentDb, paymentIds: readonly string[], paymentsMs: number) {
    const { database, account } = this;
    const [paymentOf, kept] = [new Map(paymentIds.map((id) => [id, id])), new Set<string>()];
    if (paymentIds.length === 0) return { paymentOf, kept };
    const stored = sql`select conversation_id, parent_id from card_payment
      where account = ${account} and parent_id in ${paymentIds}`;
    const old = sql`${stored} and finalized_at < ${database.fromNow(-paymentsMs)} ${database.freeRows}`;
    const locked = new Set((await database.run<RefundRow>(old, db)).map((row) => row.conversation_id));
    for (const { conversation_id: id, parent_id: paymentId } of await database.run<RefundRow>(stored, db)) {
      paymentOf.set(id, paymentId);
      if (!locked.has(id)) kept.add(paymentId);
    }
    return { paymentOf, kept };
  }

  /**
   * @returns the records among these that have a delivery, or an event that may still be fanned out; and that of each
   *   event which no handler ever took
   */
  private async owedOf(db: PaymentDb, ids: readonly string[]) {
    const { account, database } = this;
    // Fan-out skips what is locked here, so that neither waits for the other.
    const overdue = await database.run<EventRow & { readonly type: string }>(
      sql`select event_id, conversation_id, type from card_payment_delivery
        where account = ${account} and conversation_id in ${ids} and status = ${WAITING}
          and occurred_at <= ${database.fromNow(-MAX_WAIT_MS)} ${database.freeRows}`,
      db,
    );
    const known = new Set((await database.run<HandlerRow>(pairsOf(account), db)).map(({ type }) => type));
    const unheard = overdue.filter(({ type }) => !known.has(type));
    const unheardIds = new Set(unheard.map((row) => row.event_id));
    // The nodes of a Galera cluster lock no rows for each other: a pair can be forgotten while another one fans out to
    // it. Such deliveries are nobody's. Pairs are looked for with the deliveries: new ones may be announced meanwhile.
    const owed = await database.run<EventRow>(
      sql`select delivery.event_id, delivery.conversation_id from card_payment_delivery as delivery
        left join card_payment_handler as pair on pair.account = delivery.account and pair.type = delivery.type
          and pair.handler_id = delivery.handler_id
        where delivery.account = ${account} and delivery.conversation_id in ${ids}
          and (delivery.status = ${WAITING} or pair.handler_id is not null)`,
      db,
    );
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
    const theirs = sql`account = ${account} and conversation_id in ${ids}`;
    const [counted] = await database.run<{ readonly events: number }>(
      sql`select count(type) as events from card_payment_version where ${theirs}`,
      db,
    );
    for (const statement of [
      sql`delete from card_payment_delivery where ${theirs}`,
      sql`delete from card_payment_name where ${theirs} and name like ${'token:%'}`,
      sql`update card_payment_name set conversation_id = null where ${theirs} and name like ${'lock:%'}`,
      sql`update card_payment_name set conversation_id = null, purged_at = ${database.fromNow()} where ${theirs}`,
      sql`delete from card_payment_version where ${theirs}`,
      sql`delete from card_payment where ${theirs}`,
    ]) {
      await database.run(statement, db);
    }
    return Number(counted?.events);
  }
}

interface SettledRow {
  readonly conversation_id: string;
  readonly finalized_at: number;
  readonly refunds: number;
}

interface EventRow {
  readonly event_id: string;
  readonly conversation_id: string;
}

interface RefundRow {
  readonly conversation_id: string;
  readonly parent_id: string;
}

/** The first of these payments, as many as have no more refunds than a transaction deletes; one if there are any. */
function firstOf(payments: readonly SettledRow[]): readonly SettledRow[] {
  let sum = 0;
  const end = payments.findIndex(({ refunds }, index) => (sum += Number(refunds)) > REFUNDS_BATCH && index > 0);
  return end === -1 ? payments : payments.slice(0, end);
}

/** Databases limit how many values a statement may have, and a payment may have any number of refunds. */
function inChunks(ids: readonly string[]): string[][] {
  const starts = Array.from({ length: Math.ceil(ids.length / REFUNDS_BATCH) }, (_, index) => index * REFUNDS_BATCH);
  return starts.map((start) => ids.slice(start, start + REFUNDS_BATCH));
}
