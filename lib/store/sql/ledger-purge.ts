import { setImmediate } from 'node:timers/promises';
import { refundsAccountOf } from '../../payment/account.js';
import { idHashOf, type PaymentDb } from './payment-tables.js';
import { limited, type SqlDatabase } from './sql-database.js';

/** How many settled payments a transaction reads. */
const PAYMENTS_BATCH = 200;
/** How many refunds a transaction deletes, unless one payment has more. */
const REFUNDS_BATCH = 1_000;
const KEYS_BATCH = 1_000;
/** Part of the JSON of a record whose conversationId the module made. Inside a text, its quotes would be escaped. */
const MADE_BY_MODULE = '"hostIdNonce":null';

/** The last payment that a batch of the purge read. */
export interface PurgePlace {
  readonly finalizedAt: number;
  readonly conversationId: string;
}

/** A refund of a payment that is to be deleted. */
interface SettledRefund {
  readonly id: string;
  readonly paymentId: string;
}

interface PurgeBatch {
  readonly payments: number;
  readonly events: number;
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
   * these. Payments that others have locked, themselves or a refund, are left for the next purge.
   * @param from where an earlier purge stopped: from the beginning, it might never get past the payments that must stay
   */
  async purgePayments(
    paymentsMs: number,
    from: PurgePlace = { finalizedAt: 0, conversationId: '' },
  ): Promise<PurgeBatch> {
    let [payments, events] = [0, 0];
    let start = from;
    for (;;) {
      const begin = start;
      const { place, ...purged }: PurgeBatch = await limited(() => this.purgeBatch(paymentsMs, begin));
      payments += purged.payments;
      events += purged.events;
      if (!place || performance.now() >= this.end) return { payments, events, place };
      start = place;
      // Without this, a database inside this process would block the event loop until the purge ends.
      await setImmediate();
    }
  }

  /**
   * Deletes keys of payments that were purged that long ago.
   * @returns whether some may be left
   */
  async forgetKeys(keysMs: number): Promise<boolean> {
    while ((await limited(() => this.forgetSomeKeys(keysMs))) === KEYS_BATCH) {
      if (performance.now() >= this.end) return true;
      await setImmediate();
    }
    return false;
  }

  private forgetSomeKeys(keysMs: number): Promise<number> {
    const { database, account } = this;
    return database.transaction(async (db) => {
      const keys = await db
        .selectFrom('card_payment_key')
        .where('account', '=', account)
        .where('purged_at', '<', database.fromNow(-keysMs))
        .select('key_hash')
        .orderBy('purged_at')
        .limit(KEYS_BATCH)
        .modifyEnd(database.rowLock('card_payment_key'))
        .execute();
      if (keys.length === 0) return 0;
      const hashes = keys.map((key) => key.key_hash);
      await db.deleteFrom('card_payment_key').where('account', '=', account).where('key_hash', 'in', hashes).execute();
      return keys.length;
    });
  }

  private purgeBatch(paymentsMs: number, after: PurgePlace): Promise<PurgeBatch> {
    const { account } = this;
    return this.database.transaction(async (db) => {
      const settled = await this.settledAfter(db, paymentsMs, after);
      const delivered = await this.withoutDeliveries(db, account, idsOf(settled));
      const { refunds, unsettled } = await this.refundsOf(db, delivered);
      const batch = firstOf(settled, refunds);
      const ids = idsOf(batch).filter((id) => delivered.has(id) && !unsettled.has(id));
      const { payments, refundIds } = await this.withIdleRefunds(db, ids, refunds);
      const events =
        (await this.delete(db, account, payments)) + (await this.delete(db, this.refundsAccount, refundIds));
      const last = batch.at(-1);
      const isEnd = batch.length === settled.length && settled.length < PAYMENTS_BATCH;
      const place =
        !last || isEnd ? null : { finalizedAt: Number(last.finalized_at), conversationId: last.conversation_id };
      return { payments: payments.length, events, place };
    });
  }

  /** Locks the next settled payments. */
  private settledAfter(db: PaymentDb, paymentsMs: number, after: PurgePlace) {
    const { database, account } = this;
    return (
      db
        .selectFrom('card_payment')
        .where('account', '=', account)
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
        .modifyEnd(database.rowLock('card_payment'))
        .execute()
    );
  }

  /**
   * Locks the refunds of these payments.
   * @returns the settled ones, and the payments that have a refund that is not settled, or that others have locked
   */
  private async refundsOf(db: PaymentDb, paymentIds: ReadonlySet<string>) {
    const [refunds, unsettled] = [[] as SettledRefund[], new Set<string>()];
    if (paymentIds.size === 0) return { refunds, unsettled };
    const stored = db
      .selectFrom('card_payment')
      .where('account', '=', this.refundsAccount)
      .where('reference', 'in', [...paymentIds])
      .select(['conversation_id', 'reference', 'finalized_at']);
    const locked = idsOf(await stored.modifyEnd(this.database.rowLock('card_payment')).execute());
    const lockedIds = new Set(locked);
    for (const { conversation_id: id, reference, finalized_at: finalizedAt } of await stored.execute()) {
      const paymentId = reference ?? '';
      if (finalizedAt === null || !lockedIds.has(id)) unsettled.add(paymentId);
      else refunds.push({ id, paymentId });
    }
    return { refunds, unsettled };
  }

  /** The payments among these whose refunds can be deleted, with these refunds. */
  private async withIdleRefunds(db: PaymentDb, ids: readonly string[], refunds: readonly SettledRefund[]) {
    const idSet = new Set(ids);
    const ofThese = refunds.filter(({ paymentId }) => idSet.has(paymentId));
    const refundIds = ofThese.map(({ id }) => id);
    const idle = await this.withoutDeliveries(db, this.refundsAccount, refundIds);
    const busy = new Set(ofThese.flatMap(({ id, paymentId }) => (idle.has(id) ? [] : [paymentId])));
    return {
      payments: ids.filter((id) => !busy.has(id)),
      refundIds: ofThese.flatMap(({ id, paymentId }) => (busy.has(paymentId) ? [] : [id])),
    };
  }

  /** The records among these that have no delivery, and no event that is still to be fanned out to a known pair. */
  private async withoutDeliveries(db: PaymentDb, account: string, ids: readonly string[]): Promise<Set<string>> {
    const { database } = this;
    if (ids.length === 0) return new Set();
    const events = db
      .selectFrom('card_payment_event')
      .where('account', '=', account)
      .where('conversation_id', 'in', ids)
      .select(['event_id', 'conversation_id']);
    // Fan-out skips the events that are locked here, so that neither waits for the other.
    const locked = await events.modifyEnd(database.rowLock('card_payment_event')).execute();
    const lockedIds = new Set(locked.map((event) => event.event_id));
    const beingFannedOut = (await events.execute()).filter((event) => !lockedIds.has(event.event_id));
    const delivered = await db
      .selectFrom('card_payment_delivery')
      .where('account', '=', account)
      .where('conversation_id', 'in', ids)
      .select('conversation_id')
      .execute();
    const waiting = await events
      .where('waiting', '=', 1)
      .where('type', 'in', (eb) => eb.selectFrom('card_payment_handler').where('account', '=', account).select('type'))
      .execute();
    const busy = new Set([...beingFannedOut, ...delivered, ...waiting].map((row) => row.conversation_id));
    return new Set(ids.filter((id) => !busy.has(id)));
  }

  /**
   * Keeps the conversationIds that the host chose taken for a while. Those of older releases have no row yet and do not
   * say who chose them, so they are kept, too.
   */
  private async rememberIds(db: PaymentDb, account: string, ids: readonly string[]): Promise<void> {
    const { database } = this;
    const fromHost = await db
      .selectFrom('card_payment')
      .where('account', '=', account)
      .where('conversation_id', 'in', ids)
      .where('record', 'not like', `%${MADE_BY_MODULE}%`)
      .select('conversation_id')
      .execute();
    if (fromHost.length === 0) return;
    const rows = fromHost.map((payment) => ({
      account,
      key_hash: idHashOf(payment.conversation_id),
      conversation_id: null,
      purged_at: database.fromNow(),
    }));
    await db
      .insertInto('card_payment_key')
      .values(rows)
      .modifyEnd(database.orOverwrite(['account', 'key_hash'], 'purged_at'))
      .execute();
  }

  /**
   * Deletes records with their history and events. The locks of their references stay, without an owner.
   * @returns how many events there were
   */
  private async delete(db: PaymentDb, account: string, ids: readonly string[]): Promise<number> {
    const { database } = this;
    if (ids.length === 0) return 0;
    await db
      .updateTable('card_payment_reference_lock')
      .set({ conversation_id: null })
      .where('account', '=', account)
      .where('conversation_id', 'in', ids)
      .execute();
    await db
      .updateTable('card_payment_key')
      .set({ conversation_id: null, purged_at: database.fromNow() })
      .where('account', '=', account)
      .where('conversation_id', 'in', ids)
      .execute();
    await this.rememberIds(db, account, ids);
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
    return Number(numDeletedRows);
  }

  private get refundsAccount(): string {
    return refundsAccountOf(this.account);
  }
}

function idsOf(rows: readonly { readonly conversation_id: string }[]): string[] {
  return rows.map((row) => row.conversation_id);
}

/** The first of these payments, as many as have no more refunds than a transaction deletes; one if there are any. */
function firstOf<P extends { readonly conversation_id: string }>(
  settled: readonly P[],
  refunds: readonly SettledRefund[],
): readonly P[] {
  const counts = new Map<string, number>();
  for (const { paymentId } of refunds) counts.set(paymentId, (counts.get(paymentId) ?? 0) + 1);
  let sum = 0;
  const end = settled.findIndex(({ conversation_id: id }, index) => {
    sum += counts.get(id) ?? 0;
    return sum > REFUNDS_BATCH && index > 0;
  });
  return end === -1 ? settled : settled.slice(0, end);
}
