import { sql } from 'kysely';
import type { PaymentRecord } from '../../payment/payment.js';
import type { LeaseRequest } from '../payment-store.js';
import { recordOf } from './payment-tables.js';
import type { SqlDatabase } from './sql-database.js';

export function leaseDuePayments(
  database: SqlDatabase,
  { account, now, until, limit }: LeaseRequest,
): Promise<PaymentRecord[]> {
  return database.transaction(async (db) => {
    const rows = await db
      .selectFrom('card_payment')
      .where('account', '=', account)
      .where('due_at', '<=', now.getTime())
      .select(['conversation_id', 'record'])
      .orderBy('due_at')
      .limit(limit)
      .modifyEnd(sql.raw(database.engine.rowLock('card_payment')))
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

export async function handBackPayment(
  database: SqlDatabase,
  account: string,
  conversationId: string,
  version: number,
  dueAt: Date,
): Promise<void> {
  await database.transaction((db) =>
    db
      .updateTable('card_payment')
      .set({ due_at: dueAt.getTime() })
      .where('account', '=', account)
      .where('conversation_id', '=', conversationId)
      .where('version', '=', version)
      .execute(),
  );
}
