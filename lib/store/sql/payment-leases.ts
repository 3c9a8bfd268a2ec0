import { sql } from 'kysely';
import type { PaymentRecord } from '../../payment/payment.js';
import type { LeaseRequest } from '../payment-ledger.js';
import { recordOf } from './payment-tables.js';
import type { SqlDatabase } from './sql-database.js';

export function leaseDuePayments(
  database: SqlDatabase,
  { account, leaseMs, limit }: LeaseRequest,
): Promise<PaymentRecord[]> {
  return database.transaction(async (db) => {
    const rows = await db
      .selectFrom('card_payment')
      .where('account', '=', account)
      .where('due_at', '<=', database.fromNow())
      .select(['conversation_id', 'record', database.fromNow(leaseMs).as('until')])
      .orderBy('due_at')
      .limit(limit)
      .modifyEnd(sql.raw(database.engine.rowLock('card_payment')))
      .execute();
    const until = Number(rows[0]?.until);
    if (rows.length === 0) return [];
    await db
      .updateTable('card_payment')
      .set({ due_at: until })
      .where('account', '=', account)
      .where(
        'conversation_id',
        'in',
        rows.map((row) => row.conversation_id),
      )
      .execute();
    return rows.map((row) => recordOf({ ...row, due_at: until }));
  });
}

export async function handBackPayment(
  database: SqlDatabase,
  account: string,
  conversationId: string,
  version: number,
  dueAt: Date,
): Promise<void> {
  const update = database.db
    .updateTable('card_payment')
    .set({ due_at: dueAt.getTime() })
    .where('account', '=', account)
    .where('conversation_id', '=', conversationId)
    .where('version', '=', version);
  await database.statement(update.compile());
}
