import { type CompiledQuery, sql } from 'kysely';
import type { LedgerEvent } from '../../payment/ledger-event.js';
import { ALL_STATES, type LedgerState } from '../../payment/payment-state.js';
import type { PaymentHistoryEntry, PaymentRecord } from '../../payment/payment.js';
import type {
  LeaseRequest,
  ListPage,
  PaymentLedger,
  ReplaceOutcome,
  SettledPage,
  StateCount,
  StoreCounts,
  UniqueKey,
} from '../payment-store.js';
import { historyFromJson } from '../record-json.js';
import { dateOf, hostIdHashOf, keyHashOf, type PaymentDb, recordOf } from './payment-tables.js';
import type { SqlDatabase } from './sql-database.js';
import type { SqlWrites } from './sql-engine.js';

/** The ledger of a SQL store: its queries, and the writes of its engine. */
export class SqlLedger implements PaymentLedger {
  constructor(
    private readonly database: SqlDatabase,
    private readonly writes: () => Promise<SqlWrites>,
  ) {}

  async insert(record: PaymentRecord, event?: LedgerEvent): Promise<UniqueKey | null> {
    return (await this.writes()).ledgerWrites.insert(this.database, record, event);
  }

  async replace(record: PaymentRecord, previous: PaymentRecord, event?: LedgerEvent): Promise<ReplaceOutcome> {
    return (await this.writes()).ledgerWrites.replace(this.database, record, previous, event);
  }

  find(account: string, conversationId: string): Promise<PaymentRecord | null> {
    return this.findBy('conversation_id', account, conversationId);
  }

  findByTokenHash(account: string, tokenHash: string): Promise<PaymentRecord | null> {
    return this.findBy('token_hash', account, tokenHash);
  }

  async findByIdempotencyKey(account: string, idempotencyKey: string): Promise<PaymentRecord | 'purged' | null> {
    const keyHash = keyHashOf(idempotencyKey);
    const query = this.database.query('payment by key', [account, keyHash], (db) =>
      db
        .selectFrom('card_payment_key as key')
        .leftJoin('card_payment as payment', (join) =>
          join
            .onRef('payment.account', '=', 'key.account')
            .onRef('payment.conversation_id', '=', 'key.conversation_id'),
        )
        .where('key.account', '=', account)
        .where('key.key_hash', '=', keyHash)
        .select(['payment.record', 'payment.due_at']),
    );
    const [row] = await this.database.find(query);
    if (!row) return null;
    return row.record === null ? 'purged' : recordOf({ record: row.record, due_at: row.due_at });
  }

  async findByReference(account: string, reference: string): Promise<PaymentRecord[]> {
    const query = this.database.query('payments of reference', [account, reference], (db) =>
      records(db, account).where('reference', '=', reference).orderBy('created_at'),
    );
    return (await this.database.find(query)).map(recordOf);
  }

  /** Queries each state separately, so that each query reads the index in its order. */
  async listByState(account: string, states: readonly LedgerState[], limit: number): Promise<PaymentRecord[]> {
    const found: PaymentRecord[] = [];
    for (const state of new Set(states)) {
      const query = records(this.database.db, account).where('state', '=', state).orderBy('created_at').limit(limit);
      found.push(...(await this.database.read(query)).map(recordOf));
    }
    return found.sort((one, other) => one.createdAt.getTime() - other.createdAt.getTime()).slice(0, limit);
  }

  async listSettled({ account, from, to, after, limit }: SettledPage): Promise<PaymentRecord[]> {
    const place = { finalizedAt: after?.finalizedAt.getTime() ?? 0, conversationId: after?.conversationId ?? '' };
    const query = records(this.database.db, account)
      .where('finalized_at', '<', to.getTime())
      // Some databases do not search an index by the comparison of pairs below.
      .where('finalized_at', '>=', Math.max(from.getTime(), place.finalizedAt))
      .where((eb) =>
        eb(eb.refTuple('finalized_at', 'conversation_id'), '>', eb.tuple(place.finalizedAt, place.conversationId)),
      )
      .orderBy('finalized_at')
      .orderBy('conversation_id')
      .limit(limit);
    return (await this.database.read(query)).map(recordOf);
  }

  async list({ account, states, reference, after, limit }: ListPage): Promise<PaymentRecord[]> {
    let query = records(this.database.db, account).orderBy('created_at', 'desc').orderBy('conversation_id', 'desc');
    if (states) query = query.where('state', 'in', states);
    if (reference !== undefined) query = query.where('reference', '=', reference);
    const place = after && ([after.createdAt.getTime(), after.conversationId] as const);
    if (place) {
      query = query.where((eb) => eb(eb.refTuple('created_at', 'conversation_id'), '<', eb.tuple(place[0], place[1])));
    }
    return (await this.database.read(query.limit(limit))).map(recordOf);
  }

  async history(account: string, conversationId: string): Promise<PaymentHistoryEntry[]> {
    const rows = await this.database.read(
      this.database.db
        .selectFrom('card_payment_history')
        .where('account', '=', account)
        .where('conversation_id', '=', conversationId)
        .select('entry')
        .orderBy('version'),
    );
    return rows.map(({ entry }) => historyFromJson(entry));
  }

  leaseDue({ account, leaseMs, limit }: LeaseRequest): Promise<PaymentRecord[]> {
    const { database } = this;
    return database.transaction(async (db) => {
      const rows = await db
        .selectFrom('card_payment')
        .where('account', '=', account)
        .where('due_at', '<=', database.fromNow())
        .select(['conversation_id', 'record', database.fromNow(leaseMs).as('until')])
        .orderBy('due_at')
        .limit(limit)
        .modifyEnd(database.rowLock('card_payment'))
        .execute();
      const until = Number(rows[0]?.until);
      if (rows.length === 0) return [];
      const ids = rows.map((row) => row.conversation_id);
      await db
        .updateTable('card_payment')
        .set({ due_at: until })
        .where('account', '=', account)
        .where('conversation_id', 'in', ids)
        .execute();
      return rows.map((row) => recordOf({ ...row, due_at: until }));
    });
  }

  async handBack(account: string, conversationId: string, version: number, dueAt: Date): Promise<void> {
    const update = this.database.db
      .updateTable('card_payment')
      .set({ due_at: dueAt.getTime() })
      .where('account', '=', account)
      .where('conversation_id', '=', conversationId)
      .where('version', '=', version);
    await this.database.statement(update.compile());
  }

  async countStates(account: string): Promise<StoreCounts['states']> {
    const rows = await this.database.read(
      this.database.db
        .selectFrom('card_payment')
        .where('account', '=', account)
        .where('state', 'in', ALL_STATES)
        .groupBy('state')
        .select(({ fn }) => ['state', fn.countAll().as('count'), fn.min('updated_at').as('oldest')]),
    );
    const counts = ALL_STATES.map((state): [string, StateCount] => {
      const row = rows.find((one) => one.state === state);
      return [state, row ? { count: Number(row.count), oldest: dateOf(row.oldest) } : { count: 0, oldest: null }];
    });
    return Object.fromEntries(counts) as StoreCounts['states'];
  }

  private async findBy(
    column: 'conversation_id' | 'token_hash',
    account: string,
    value: string,
  ): Promise<PaymentRecord | null> {
    const query = this.database.query(`payment by ${column}`, [account, value], (db) =>
      records(db, account).where(column, '=', value),
    );
    const [row] = await this.database.find(query);
    return row ? recordOf(row) : null;
  }
}

function records(db: PaymentDb, account: string) {
  return db.selectFrom('card_payment').where('account', '=', account).select(['record', 'due_at']);
}

type TakenKeys = Readonly<Record<UniqueKey, unknown>>;

/**
 * Finds out which keys of a record are taken.
 * @param ownId the record's conversationId if it is stored already: then its own keys do not count
 */
export function takenKeys(
  database: SqlDatabase,
  record: PaymentRecord,
  ownId: string | null,
): CompiledQuery<TakenKeys> {
  const { account, conversationId, idempotencyKey, tokenHash, referenceLock } = record;
  const own = ownId ?? '';
  const keyHash = keyHashOf(idempotencyKey ?? '');
  const idHash = hostIdHashOf(record) ?? '';
  const ofId = [account, conversationId, account, idHash];
  const values = [...ofId, account, keyHash, own, account, tokenHash, own, account, referenceLock, own];
  return database.query('taken keys', values, (db) =>
    db.selectNoFrom((eb) => {
      const payment = eb.selectFrom('card_payment').where('account', '=', account).select('version');
      const key = eb.selectFrom('card_payment_key').where('account', '=', account).select('key_hash');
      const lock = eb.selectFrom('card_payment_reference_lock').where('account', '=', account).select('reference');
      const isOthers = sql<boolean>`(conversation_id is null or conversation_id <> ${own})`;
      return [
        eb
          .or([
            eb.exists(payment.where('conversation_id', '=', conversationId)),
            eb.exists(key.where('key_hash', '=', idHash)),
          ])
          .as('conversationId'),
        eb.exists(key.where('key_hash', '=', keyHash).where(isOthers)).as('idempotencyKey'),
        eb.exists(payment.where('token_hash', '=', tokenHash).where(isOthers)).as('tokenHash'),
        eb.exists(lock.where('reference', '=', referenceLock).where(isOthers)).as('referenceLock'),
      ];
    }),
  );
}

/** Which of the {@link takenKeys} the store names when several are taken. */
export function firstTaken(
  taken: TakenKeys | undefined,
  { idempotencyKey }: PaymentRecord,
  ownId: string | null,
): UniqueKey | null {
  if (!taken) return null;
  // Some drivers can be told to give numbers as texts.
  const isTaken = (name: UniqueKey): boolean => Number(taken[name]) === 1;
  if (isTaken('conversationId') && ownId === null) return 'conversationId';
  if (isTaken('idempotencyKey') && idempotencyKey !== null) return 'idempotencyKey';
  return (['tokenHash', 'referenceLock'] as const).find(isTaken) ?? null;
}
