import type { Expression, ExpressionBuilder, Insertable, SqlBool } from 'kysely';
import { ALL_STATES, type LedgerState, factsOf, UNSETTLED_STATES } from '../../payment/states.js';
import type { PaymentHistoryEntry, PaymentRecord } from '../../payment/payment.js';
import type { LedgerEvent } from '../../payment/payment-event.js';
import {
  type LeaseRequest,
  type ListPage,
  type ListPlace,
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
import { historyEntryOf, recordFromJson } from '../record-json.js';
import { hashedName, keyName, nameChange, namesOf } from '../unique-names.js';
import type { SqlDatabase } from './database.js';
import {
  IS_REFUND,
  itsVersion,
  type PaymentDb,
  type PaymentTables,
  type RecordRow,
  toDate,
  toRecord,
  toRow,
  toVersionRow,
  toWaitingRow,
} from './tables.js';

/** How often a write is tried: a name that was taken may be free again when its owner is looked up. */
const MAX_TRIES = 5;

/** The part of a SQL store that is its ledger. */
export abstract class SqlLedger implements PaymentLedger {
  constructor(protected readonly database: SqlDatabase) {}

  insert(record: PaymentRecord, event?: LedgerEvent): Promise<RefusedKey | null> {
    return this.unlessTaken<RefusedKey | null>(
      async (db) => {
        if (record.parentId !== undefined && !(await this.countRefund(db, record.account, record.parentId)))
          return 'parentId';
        await this.insertRows(db, 'card_payment', [toRow(record)]);
        await this.takeNames(db, record, [...namesOf(record, hashedName).keys()]);
        await this.writeVersion(db, record, event);
        return null;
      },
      async () => this.takenKey(record, true),
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
    const { rows } = await this.database.query('payment by id', [account, conversationId], (db) =>
      recordsOf(db, account).where('payment.conversation_id', '=', conversationId),
    );
    return rows[0] ? toRecord(rows[0]) : null;
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
    const name = hashedName('lock', reference);
    const found = await this.database.read((db) =>
      db
        .selectNoFrom((eb) => {
          const lock = eb.selectFrom('card_payment_name').where('account', '=', account).where('name', '=', name);
          const payments = eb
            .selectFrom('card_payment')
            .where('account', '=', account)
            .where('reference', '=', reference)
            .where('is_refund', '=', IS_REFUND.payment);
          return [
            eb.exists(lock.select('card_payment_name.name')).as('lock'),
            eb.exists(payments.where('state', 'not in', unless).select('card_payment.version')).as('payment'),
          ];
        })
        .executeTakeFirstOrThrow(),
    );
    return Boolean(found.lock) || Boolean(found.payment);
  }

  async findByReference(account: string, reference: string): Promise<PaymentRecord[]> {
    const { rows } = await this.database.query('payments of reference', [account, IS_REFUND.payment, reference], (db) =>
      recordsOf(db, account, 'payment').where('payment.reference', '=', reference).orderBy('payment.created_at'),
    );
    return rows.map(toRecord);
  }

  async findRefunds(account: string, conversationId: string): Promise<PaymentRecord[]> {
    const rows = await this.database.read((db) =>
      recordsOf(db, account).where('payment.parent_id', '=', conversationId).orderBy('payment.created_at').execute(),
    );
    return rows.map(toRecord);
  }

  async list({ account, type, states, reference, after, limit }: ListPage): Promise<PaymentRecord[]> {
    if (states?.length === 0) return [];
    const page = (records: Records) =>
      records
        .$if(after !== null, (query) => query.where((eb) => isAfter(eb, after!)))
        .orderBy('payment.created_at', 'desc')
        .orderBy('payment.conversation_id', 'desc')
        .limit(limit);
    if (states && reference === undefined) {
      return (await this.ofEachState(account, type, states, page)).sort(newestFirst).slice(0, limit);
    }
    const rows = await this.database.read((db) =>
      page(recordsOf(db, account, type))
        .$if(reference !== undefined, (query) => query.where('payment.reference', '=', reference!))
        .$if(states !== undefined, (query) => query.where('payment.state', 'in', states!))
        .execute(),
    );
    return rows.map(toRecord);
  }

  async listSettled({ account, from, to, after, limit }: SettledPage): Promise<PaymentRecord[]> {
    const place = { finalizedAt: after?.finalizedAt.getTime() ?? 0, conversationId: after?.conversationId ?? '' };
    const rows = await this.database.read((db) =>
      recordsOf(db, account)
        .where('payment.finalized_at', '<', to.getTime())
        // Some databases do not search an index by the comparison of pairs below.
        .where('payment.finalized_at', '>=', Math.max(from.getTime(), place.finalizedAt))
        .where((eb) =>
          eb(
            eb.refTuple('payment.finalized_at', 'payment.conversation_id'),
            '>',
            eb.tuple(place.finalizedAt, place.conversationId),
          ),
        )
        .orderBy('payment.finalized_at')
        .orderBy('payment.conversation_id')
        .limit(limit)
        .execute(),
    );
    return rows.map(toRecord);
  }

  async history(account: string, conversationId: string): Promise<PaymentHistoryEntry[]> {
    const rows = await this.database.read((db) =>
      db
        .selectFrom('card_payment_version')
        .where('account', '=', account)
        .where('conversation_id', '=', conversationId)
        .select('record')
        .orderBy('version')
        .execute(),
    );
    return rows.map(({ record }) => historyEntryOf(recordFromJson(record)));
  }

  async leaseDue({ account, leaseMs, limit }: LeaseRequest): Promise<PaymentRecord[]> {
    const { database } = this;
    const due = (db: PaymentDb) =>
      db
        .selectFrom('card_payment')
        .where('account', '=', account)
        .where('due_at', '<=', database.fromNow())
        .select('conversation_id')
        .orderBy('due_at')
        .limit(limit);
    // Most often there are none, and then no transaction is needed.
    if ((await database.read((db) => due(db).execute())).length === 0) return [];
    return database.write(async (db) => {
      const rows = await due(db).modifyEnd(database.freeRows).execute();
      if (rows.length === 0) return [];
      const ids = rows.map((row) => row.conversation_id);
      await db
        .updateTable('card_payment')
        .set({ due_at: database.fromNow(leaseMs) })
        .where('account', '=', account)
        .where('conversation_id', 'in', ids)
        .execute();
      const leased = await recordsOf(db, account).where('payment.conversation_id', 'in', ids).execute();
      const records = new Map(leased.map((row) => [row.conversation_id, toRecord(row)]));
      return ids.flatMap((id) => records.get(id) ?? []);
    });
  }

  async handBack(account: string, conversationId: string, version: number, dueAt: Date): Promise<void> {
    await this.database.single((db) =>
      db
        .updateTable('card_payment')
        .set({ due_at: dueAt.getTime() })
        .where('account', '=', account)
        .where('conversation_id', '=', conversationId)
        .where('version', '=', version)
        .execute(),
    );
  }

  /** Counts each state by its own part of an index, a settled one only so far. */
  protected async countStates(account: string, type: RecordType): Promise<StoreCounts['states']> {
    const countOf = (db: PaymentDb, state: LedgerState) =>
      db
        .selectFrom((eb) =>
          eb
            .selectFrom('card_payment')
            .where('account', '=', account)
            .where('is_refund', '=', IS_REFUND[type])
            .where('state', '=', state)
            .select('updated_at')
            .orderBy('created_at')
            .orderBy('conversation_id')
            .$if(factsOf(state).settled, (query) => query.limit(MAX_SETTLED_COUNT))
            .as('counted'),
        )
        .select(({ fn }) => [fn.countAll().as('count'), fn.min('counted.updated_at').as('oldest')]);
    const counts: [string, StateCount][] = [];
    for (const state of ALL_STATES) {
      const row = await this.database.read((db) => countOf(db, state).executeTakeFirstOrThrow());
      const oldest = row.oldest === null ? null : toDate(row.oldest);
      counts.push([state, { count: Number(row.count), oldest }]);
    }
    return Object.fromEntries(counts) as StoreCounts['states'];
  }

  async otherGateways(account: string, own: readonly string[]): Promise<Readonly<Record<string, number>>> {
    const rows = await this.database.read((db) =>
      db
        .selectFrom('card_payment')
        .where('account', '=', account)
        // Both, by the index of states.
        .where('is_refund', 'in', Object.values(IS_REFUND))
        .where('state', 'in', UNSETTLED_STATES)
        .where('gateway', 'is not', null)
        .$if(own.length > 0, (query) => query.where('gateway', 'not in', own))
        .groupBy('gateway')
        .select(({ fn }) => ['gateway', fn.countAll().as('count')])
        .execute(),
    );
    return Object.fromEntries(rows.map(({ gateway, count }) => [gateway ?? '', Number(count)]));
  }

  /** Queries each state separately, so that each query reads the index in its order. */
  private async ofEachState(
    account: string,
    type: RecordType,
    states: readonly LedgerState[],
    page: (records: Records) => Records,
  ): Promise<PaymentRecord[]> {
    const found: PaymentRecord[] = [];
    for (const state of new Set(states)) {
      const rows = await this.database.read((db) =>
        page(recordsOf(db, account, type).where('payment.state', '=', state)).execute(),
      );
      found.push(...rows.map(toRecord));
    }
    return found;
  }

  private async findByName(account: string, name: string): Promise<PaymentRecord | 'purged' | null> {
    const { rows } = await this.database.query('payment by name', [account, name], (db) =>
      db
        .selectFrom('card_payment_name as name')
        .leftJoin('card_payment as payment', (join) =>
          join
            .onRef('payment.account', '=', 'name.account')
            .onRef('payment.conversation_id', '=', 'name.conversation_id'),
        )
        .leftJoin('card_payment_version as version', (join) => join.on(itsVersion('payment')))
        .where('name.account', '=', account)
        .where('name.name', '=', name)
        .select(['version.record', 'payment.due_at', 'payment.redirect_url']),
    );
    if (!rows[0]) return null;
    return rows[0].record === null ? 'purged' : toRecord(rows[0] as RecordRow);
  }

  /**
   * Writes in a transaction, again when a name was taken that is free by now.
   * @param whenTaken gives the outcome when a name is taken; null when it is free again
   */
  private async unlessTaken<T>(write: (db: PaymentDb) => Promise<T>, whenTaken: () => Promise<T | null>): Promise<T> {
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
    const rows = await this.database.read((db) =>
      db
        .selectFrom('card_payment_name')
        .where('account', '=', account)
        .where('name', 'in', [...names.keys()])
        .select(['name', 'conversation_id'])
        .execute(),
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
    const { numAffectedRows } = await this.database.query(
      'count refund',
      [1, account, conversationId, IS_REFUND.payment],
      (to) =>
        to
          .updateTable('card_payment')
          .set((eb) => ({ refunds: eb('refunds', '+', 1) }))
          .where('account', '=', account)
          .where('conversation_id', '=', conversationId)
          .where('is_refund', '=', IS_REFUND.payment),
      db,
    );
    return numAffectedRows !== 0n;
  }

  /** The row of the record is always written first, so that writers of one record wait for each other there. */
  private async update(db: PaymentDb, record: PaymentRecord, version: number): Promise<boolean> {
    const { account, conversation_id: id, ...changes } = toRow(record);
    const values = [...Object.values(changes), account, id, version];
    const { numAffectedRows } = await this.database.query(
      'update payment',
      values,
      (to) =>
        to
          .updateTable('card_payment')
          .set(changes)
          .where('account', '=', account)
          .where('conversation_id', '=', id)
          .where('version', '=', version),
      db,
    );
    return numAffectedRows !== 0n;
  }

  private async takeNames(db: PaymentDb, record: PaymentRecord, names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    const { account, conversationId: id } = record;
    const rows = names.map((name) => ({ account, name, conversation_id: id, purged_at: null }));
    await this.insertRows(db, 'card_payment_name', rows);
  }

  /** Only a name of its own: another record may have pinned it. */
  private async releaseName(db: PaymentDb, record: PaymentRecord, name: string): Promise<void> {
    const { account, conversationId: id } = record;
    await this.database.query(
      'delete name',
      [account, name, id],
      (to) =>
        to
          .deleteFrom('card_payment_name')
          .where('account', '=', account)
          .where('name', '=', name)
          .where('conversation_id', '=', id),
      db,
    );
  }

  /** From now on the name has no owner. In one statement, so that many that pin it at once wait for each other. */
  private async pinName(db: PaymentDb, account: string, name: string): Promise<void> {
    await db
      .insertInto('card_payment_name')
      .values({ account, name, conversation_id: null, purged_at: null })
      .modifyEnd(this.database.orOverwrite(['account', 'name'], 'conversation_id'))
      .execute();
  }

  private async writeVersion(db: PaymentDb, record: PaymentRecord, event: LedgerEvent | undefined): Promise<void> {
    await this.insertRows(db, 'card_payment_version', [toVersionRow(record, event)]);
    if (event) await this.insertRows(db, 'card_payment_delivery', [toWaitingRow(record, event)]);
  }

  private async insertRows<Table extends keyof PaymentTables>(
    db: PaymentDb,
    table: Table,
    rows: readonly Insertable<PaymentTables[Table]>[],
  ): Promise<void> {
    const values = rows.flatMap((row) => Object.values(row));
    await this.database.query(`insert ${rows.length} ${table}`, values, (to) => to.insertInto(table).values(rows), db);
  }
}

/** The records of an account, each with its last version. */
function recordsOf(db: PaymentDb, account: string, type?: RecordType) {
  return db
    .selectFrom('card_payment as payment')
    .innerJoin('card_payment_version as version', (join) => join.on(itsVersion('payment')))
    .where('payment.account', '=', account)
    .$if(type !== undefined, (query) => query.where('payment.is_refund', '=', IS_REFUND[type!]))
    .select(['payment.conversation_id', 'version.record', 'payment.due_at', 'payment.redirect_url']);
}

type Records = ReturnType<typeof recordsOf>;

type Joined = ExpressionBuilder<
  PaymentTables & { payment: PaymentTables['card_payment']; version: PaymentTables['card_payment_version'] },
  'payment' | 'version'
>;

function isAfter(eb: Joined, { createdAt, conversationId }: ListPlace): Expression<SqlBool> {
  const at = createdAt.getTime();
  const isLater = eb(eb.refTuple('payment.created_at', 'payment.conversation_id'), '<', eb.tuple(at, conversationId));
  // Some databases do not search an index by the comparison of pairs.
  return eb.and([eb('payment.created_at', '<=', at), isLater]);
}

function newestFirst(one: PaymentRecord, other: PaymentRecord): number {
  const bytes = (id: string) => Buffer.from(id);
  return (
    other.createdAt.getTime() - one.createdAt.getTime() ||
    Buffer.compare(bytes(other.conversationId), bytes(one.conversationId))
  );
}
