import { ALL_STATES, type LedgerState, factsOf, UNSETTLED_STATES } from '../../payment/states.js';
import type { PaymentHistoryEntry, PaymentRecord } from '../../payment/payment.js';
import type { LedgerEvent } from '../../payment/payment-event.js';
import {
  type LeaseRequest,
  type ListPage,
  MAX_SETTLED_COUNT,
  type PaymentLedger,
  type RecordType,
  type ReplaceOutcome,
  type SettledPage,
  type StateCount,
  type StoreCounts,
  type RefusedKey,
  type UniqueKey,
} from '../payment-store.js';
import { byCreation } from '../order.js';
import { historyEntryOf, recordFromJson } from '../record-json.js';
import { hashedName, keyName, nameChange, namesOf } from '../unique-names.js';
import type { SqlDatabase } from './database.js';
import { assigned, insertInto, isPast, joined, raw, sql, type Statement } from './statement.js';
import {
  IS_REFUND,
  type PaymentDb,
  type RecordRow,
  toDate,
  toRecord,
  toRow,
  toVersionRow,
  toWaitingRow,
  type Work,
} from './tables.js';

/** How often a write is tried: a name that was taken may be free again when its owner is looked up. */
const MAX_TRIES = 5;

/** The part of a SQL store that is its ledger. */
export abstract class SqlLedger implements PaymentLedger {
  constructor(protected readonly database: SqlDatabase) {}

  insert(record: PaymentRecord, event?: LedgerEvent): Promise<RefusedKey | null> {
    const { account, parentId } = record;
    return this.unlessTaken<RefusedKey | null>(
      async (db) => {
        if (parentId !== undefined && !(await this.countRefund(db, account, parentId))) return 'parentId';
        await this.database.run(insertInto('card_payment', [toRow(record)]), db);
        await this.takeNames(db, record, [...namesOf(record, hashedName).keys()]);
        await this.writeVersion(db, record, event);
        return null;
      },
      () => this.takenKey(record, true),
    );
  }

  replace(next: PaymentRecord, previous: PaymentRecord, event?: LedgerEvent): Promise<ReplaceOutcome> {
    return this.unlessTaken<ReplaceOutcome>(
      async (db) => {
        if (!(await this.update(db, next, previous.version))) return 'stale';
        const { released, taken, pinned } = nameChange(next, previous, hashedName);
        for (const name of released) await this.releaseName(db, next, name);
        await this.takeNames(db, next, taken);
        if (pinned !== null) await this.pinName(db, next.account, pinned);
        await this.writeVersion(db, next, event);
        return 'replaced';
      },
      async () => {
        const key = await this.takenKey(next, false);
        if (key !== null && key !== 'referenceLock') throw new Error(`another payment has this ${key}`);
        return key && 'locked';
      },
    );
  }

  async find(account: string, conversationId: string): Promise<PaymentRecord | null> {
    const [found = null] = await this.records(account, sql`payment.conversation_id = ${conversationId}`);
    return found;
  }

  async findByTokenHash(account: string, tokenHash: string): Promise<PaymentRecord | null> {
    const found = await this.findByName(account, hashedName('token', tokenHash));
    return found === 'purged' ? null : found;
  }

  findByIdempotencyKey(
    account: string,
    type: RecordType,
    idempotencyKey: string,
  ): Promise<PaymentRecord | 'purged' | null> {
    return this.findByName(account, keyName(hashedName, type, idempotencyKey));
  }

  findByReferenceLock(account: string, reference: string): Promise<PaymentRecord | 'purged' | null> {
    return this.findByName(account, hashedName('lock', reference));
  }

  async isHeld(account: string, reference: string, unless: readonly LedgerState[]): Promise<boolean> {
    const lock = sql`select name from card_payment_name
        where account = ${account} and name = ${hashedName('lock', reference)}`;
    const payment = sql`select version from card_payment
        where account = ${account} and reference = ${reference}
          and is_refund = ${IS_REFUND.payment} and state not in ${unless}`;
    const [found] = await this.database.run<{ readonly is_held: number }>(
      sql`select case when exists (${lock}) or exists (${payment}) then 1 else 0 end as is_held`,
    );
    return Number(found?.is_held) === 1;
  }

  findByReference(account: string, reference: string): Promise<PaymentRecord[]> {
    return this.records(
      account,
      sql`payment.is_refund = ${IS_REFUND.payment} and payment.reference = ${reference} order by payment.created_at`,
    );
  }

  findRefunds(account: string, conversationId: string): Promise<PaymentRecord[]> {
    return this.records(account, sql`payment.parent_id = ${conversationId} order by payment.created_at`);
  }

  async list({ account, type, states, reference, after, limit }: ListPage): Promise<PaymentRecord[]> {
    const place = after && {
      'payment.created_at': after.createdAt.getTime(),
      'payment.conversation_id': after.conversationId,
    };
    const page = (state?: LedgerState) => {
      // An order has few payments, and an unsettled state has few of them. By itself, SQLite would rather read the
      // payments of all orders in the order that is asked for; the plus keeps it from those indexes.
      const isByOrder = reference !== undefined && (state === undefined || factsOf(state).settled);
      const conditions = [
        sql`${raw(isByOrder ? '+' : '')}payment.is_refund = ${IS_REFUND[type]}`,
        ...(reference === undefined ? [] : [sql`payment.reference = ${reference}`]),
        ...(state === undefined ? [] : [sql`payment.state = ${state}`]),
        ...(place ? [isPast(place, '<')] : []),
      ];
      return this.records(
        account,
        sql`${joined(conditions, ' and ')}
        order by payment.created_at desc, payment.conversation_id desc limit ${limit}`,
      );
    };
    if (!states) return page();
    // Each state by itself, so that each query reads the index in its order.
    const pages: PaymentRecord[][] = [];
    for (const state of new Set(states)) pages.push(await page(state));
    return pages
      .flat()
      .sort((one, other) => byCreation(other, one))
      .slice(0, limit);
  }

  listSettled({ account, from, to, after, limit }: SettledPage): Promise<PaymentRecord[]> {
    const start = after && after.finalizedAt >= from ? after : { finalizedAt: from, conversationId: '' };
    const place = {
      'payment.finalized_at': start.finalizedAt.getTime(),
      'payment.conversation_id': start.conversationId,
    };
    return this.records(
      account,
      sql`payment.finalized_at < ${to.getTime()} and ${isPast(place, '>')}
        order by payment.finalized_at, payment.conversation_id limit ${limit}`,
    );
  }

  async history(account: string, conversationId: string): Promise<PaymentHistoryEntry[]> {
    const rows = await this.database.run<Pick<RecordRow, 'record'>>(
      sql`select record from card_payment_version
        where account = ${account} and conversation_id = ${conversationId} order by version`,
    );
    return rows.map(({ record }) => historyEntryOf(recordFromJson(record)));
  }

  async leaseDue({ account, leaseMs, limit }: LeaseRequest): Promise<PaymentRecord[]> {
    const { database } = this;
    const due = () => sql`select conversation_id from card_payment
        where account = ${account} and due_at <= ${database.fromNow()} order by due_at limit ${limit}`;
    // Most often there are none, and then no transaction is needed.
    if ((await database.run(due())).length === 0) return [];
    return database.write(async (db) => {
      const rows = await database.run<Pick<RecordRow, 'conversation_id'>>(sql`${due()} ${database.freeRows}`, db);
      if (rows.length === 0) return [];
      const ids = rows.map((row) => row.conversation_id);
      await database.run(
        sql`update card_payment set due_at = ${database.fromNow(leaseMs)}
        where account = ${account} and conversation_id in ${ids}`,
        db,
      );
      const leased = await this.records(account, sql`payment.conversation_id in ${ids}`, db);
      const byId = new Map(leased.map((record) => [record.conversationId, record]));
      return ids.flatMap((id) => byId.get(id) ?? []);
    });
  }

  async handBack(account: string, conversationId: string, version: number, dueAt: Date): Promise<void> {
    await this.database.single(
      sql`update card_payment set due_at = ${dueAt.getTime()}
        where account = ${account} and conversation_id = ${conversationId} and version = ${version}`,
    );
  }

  /** Counts each state by its own part of an index, a settled one only so far. */
  protected async countStates(account: string, type: RecordType): Promise<StoreCounts['states']> {
    const counts: [string, StateCount][] = [];
    for (const state of ALL_STATES) {
      const end = factsOf(state).settled ? sql`limit ${MAX_SETTLED_COUNT}` : raw('');
      const [row] = await this.database.run<{ readonly count: number; readonly oldest: number | null }>(
        sql`select count(*) as count, min(counted.updated_at) as oldest from (
          select updated_at from card_payment
          where account = ${account} and is_refund = ${IS_REFUND[type]} and state = ${state}
          order by created_at, conversation_id ${end}
        ) as counted`,
      );
      const oldest = row!.oldest === null ? null : toDate(row!.oldest);
      counts.push([state, { count: Number(row!.count), oldest }]);
    }
    return Object.fromEntries(counts) as StoreCounts['states'];
  }

  async otherGateways(account: string, own: readonly string[]): Promise<Readonly<Record<string, number>>> {
    // Payments and refunds, by the index of states.
    const hint = raw(this.database.engine.indexHint?.('card_payment_state') ?? '');
    const rows = await this.database.run<{ readonly gateway: string; readonly count: number }>(
      sql`select gateway, count(*) as count from card_payment ${hint}
        where account = ${account} and is_refund in ${Object.values(IS_REFUND)} and state in ${UNSETTLED_STATES}
        and gateway is not null ${own.length > 0 ? sql`and gateway not in ${own}` : raw('')} group by gateway`,
    );
    return Object.fromEntries(rows.map(({ gateway, count }) => [gateway, Number(count)]));
  }

  /** The records of an account that meet a condition, which an order may follow. */
  private async records(account: string, condition: Statement, db?: PaymentDb): Promise<PaymentRecord[]> {
    const rows = await this.database.run<RecordRow>(
      sql`select payment.conversation_id, version.record, payment.due_at, payment.redirect_url
        from card_payment as payment ${joinVersion('payment')} where payment.account = ${account} and ${condition}`,
      db,
    );
    return rows.map(toRecord);
  }

  private async findByName(account: string, name: string): Promise<PaymentRecord | 'purged' | null> {
    const [row] = await this.database.run<RecordRow | { readonly record: null }>(
      sql`select version.record, payment.due_at, payment.redirect_url from card_payment_name as name
        left join card_payment as payment
          on payment.account = name.account and payment.conversation_id = name.conversation_id
        left ${joinVersion('payment')} where name.account = ${account} and name.name = ${name}`,
    );
    if (!row) return null;
    return row.record === null ? 'purged' : toRecord(row);
  }

  /**
   * Writes in a transaction, again when a name was taken that is free by now.
   * @param whenTaken gives the outcome when a name is taken; null when it is free again
   */
  private async unlessTaken<T>(write: Work<T>, whenTaken: () => Promise<T | null>): Promise<T> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      try {
        return await this.database.write(write);
      } catch (error) {
        if (!this.database.engine.isTaken(error)) throw error;
      }
      const outcome = await whenTaken();
      if (outcome !== null) return outcome;
    }
    throw new Error('a key of the payment is taken and given up again and again');
  }

  /** The key of the record that another one has; null if there is none. */
  private async takenKey(record: PaymentRecord, isNew: boolean): Promise<UniqueKey | null> {
    const { account, conversationId } = record;
    if (isNew && (await this.find(account, conversationId))) return 'conversationId';
    const names = namesOf(record, hashedName);
    if (names.size === 0) return null;
    const rows = await this.database.run<{ readonly name: string; readonly conversation_id: string | null }>(
      sql`select name, conversation_id from card_payment_name
        where account = ${account} and name in ${[...names.keys()]}`,
    );
    const others = rows.filter((row) => isNew || row.conversation_id !== conversationId).map(({ name }) => name);
    return [...names].find(([name]) => others.includes(name))?.[1] ?? null;
  }

  /**
   * Holds off a purge of the payment until its refund is stored. A lock alone would not: the nodes of a Galera cluster
   * lock no rows for each other, and of two that write one row the later is undone.
   * @returns false when there is no such payment
   */
  private async countRefund(db: PaymentDb, account: string, conversationId: string): Promise<boolean> {
    const counted = await this.database.change(
      sql`update card_payment set refunds = refunds + 1
        where account = ${account} and conversation_id = ${conversationId} and is_refund = ${IS_REFUND.payment}`,
      db,
    );
    return counted > 0;
  }

  /** The row of the record is always written first, so that writers of one record wait for each other there. */
  private async update(db: PaymentDb, record: PaymentRecord, version: number): Promise<boolean> {
    const { account, conversation_id: id, ...changes } = toRow(record);
    const changed = await this.database.change(
      sql`update card_payment set ${assigned<'card_payment'>(changes)}
        where account = ${account} and conversation_id = ${id} and version = ${version}`,
      db,
    );
    return changed > 0;
  }

  private async takeNames(db: PaymentDb, record: PaymentRecord, names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    const { account, conversationId: id } = record;
    const rows = names.map((name) => ({ account, name, conversation_id: id, purged_at: null }));
    await this.database.run(insertInto('card_payment_name', rows), db);
  }

  /** Only a name of its own: another record may have pinned it. */
  private async releaseName(db: PaymentDb, { account, conversationId }: PaymentRecord, name: string): Promise<void> {
    await this.database.run(
      sql`delete from card_payment_name
        where account = ${account} and name = ${name} and conversation_id = ${conversationId}`,
      db,
    );
  }

  /** From now on the name has no owner. In one statement, so that many that pin it at once wait for each other. */
  private async pinName(db: PaymentDb, account: string, name: string): Promise<void> {
    const { database } = this;
    const row = insertInto('card_payment_name', [{ account, name, conversation_id: null, purged_at: null }]);
    await database.run(sql`${row} ${database.orOverwrite(['account', 'name'], 'conversation_id')}`, db);
  }

  private async writeVersion(db: PaymentDb, record: PaymentRecord, event: LedgerEvent | undefined): Promise<void> {
    await this.database.run(insertInto('card_payment_version', [toVersionRow(record, event)]), db);
    if (event) await this.database.run(insertInto('card_payment_delivery', [toWaitingRow(record, event)]), db);
  }
}

/** Joins the table of versions: what a `payment` is now, or what the event of a `delivery` is of. */
export function joinVersion(of: 'payment' | 'delivery'): Statement {
  return raw(`join card_payment_version as version on version.account = ${of}.account
and version.conversation_id = ${of}.conversation_id and version.version = ${of}.version`);
}
