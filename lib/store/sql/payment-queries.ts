import type { PaymentHistoryEntry, PaymentRecord } from '../../payment/payment.js';
import type { PaymentState } from '../../payment/payment-state.js';
import { historyFromJson } from '../record-json.js';
import { keyHashOf } from './key-hash.js';
import { type PaymentDb, recordOf } from './payment-tables.js';
import type { SqlDatabase } from './sql-database.js';

export async function findPayment(
  database: SqlDatabase,
  account: string,
  key: 'conversation_id' | 'token_hash',
  value: string,
): Promise<PaymentRecord | null> {
  const query = database.query(`payment by ${key}`, [account, value], (db) =>
    records(db, account).where(key, '=', value),
  );
  const [row] = await database.find(query);
  return row ? recordOf(row) : null;
}

export async function findPaymentByKey(
  database: SqlDatabase,
  account: string,
  idempotencyKey: string,
): Promise<PaymentRecord | 'purged' | null> {
  const keyHash = keyHashOf(idempotencyKey);
  const query = database.query('payment by key', [account, keyHash], (db) =>
    db
      .selectFrom('card_payment_key as key')
      .leftJoin('card_payment as payment', (join) =>
        join.onRef('payment.account', '=', 'key.account').onRef('payment.conversation_id', '=', 'key.conversation_id'),
      )
      .where('key.account', '=', account)
      .where('key.key_hash', '=', keyHash)
      .select(['payment.record', 'payment.due_at']),
  );
  const [row] = await database.find(query);
  if (!row) return null;
  return row.record === null ? 'purged' : recordOf({ record: row.record, due_at: row.due_at });
}

export async function paymentsOfReference(
  database: SqlDatabase,
  account: string,
  reference: string,
): Promise<PaymentRecord[]> {
  const query = database.query('payments of reference', [account, reference], (db) =>
    records(db, account).where('reference', '=', reference).orderBy('created_at'),
  );
  return (await database.find(query)).map(recordOf);
}

/** Each state has a query of its own, which fits the index. */
export async function paymentsInStates(
  database: SqlDatabase,
  account: string,
  states: readonly PaymentState[],
  limit: number,
): Promise<PaymentRecord[]> {
  const found: PaymentRecord[] = [];
  for (const state of new Set(states)) {
    const query = records(database.db, account).where('state', '=', state).orderBy('updated_at').limit(limit);
    found.push(...(await database.read(query)).map(recordOf));
  }
  return found.sort((one, other) => one.updatedAt.getTime() - other.updatedAt.getTime()).slice(0, limit);
}

export async function historyOf(
  database: SqlDatabase,
  account: string,
  conversationId: string,
): Promise<PaymentHistoryEntry[]> {
  const rows = await database.read(
    database.db
      .selectFrom('card_payment_history')
      .where('account', '=', account)
      .where('conversation_id', '=', conversationId)
      .select('entry')
      .orderBy('version'),
  );
  return rows.map(({ entry }) => historyFromJson(entry));
}

function records(db: PaymentDb, account: string) {
  return db.selectFrom('card_payment').where('account', '=', account).select(['record', 'due_at']);
}
