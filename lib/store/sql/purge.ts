import { sql } from 'kysely';
import type { PurgeCounts } from '../payment-store.js';
import { lockHandlers } from './outbox.js';
import type { PaymentDb } from './payment-tables.js';
import type { SqlDatabase } from './sql-database.js';
import type { SqlEngine } from './sql-engine.js';

const PURGE_BATCH = 200;

/** Deletes settled payments without open deliveries, a batch in each transaction. */
export async function purgePayments(database: SqlDatabase, account: string, before: Date): Promise<PurgeCounts> {
  let payments = 0;
  let events = 0;
  for (;;) {
    const batch = await database.transaction(async (db) => {
      // So that nothing is delivered of what is about to be deleted.
      await lockHandlers(db, database.engine, account, 'alone');
      return deletePayments(db, account, await purgeable(db, database.engine, account, before));
    });
    payments += batch.payments;
    events += batch.events;
    if (batch.payments < PURGE_BATCH) return { payments, events };
  }
}

async function purgeable(db: PaymentDb, engine: SqlEngine, account: string, before: Date): Promise<string[]> {
  const rows = await db
    .selectFrom('card_payment as payment')
    .where('payment.account', '=', account)
    .where('payment.finalized_at', '<', before.getTime())
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('card_payment_delivery as delivery')
            .whereRef('delivery.account', '=', 'payment.account')
            .whereRef('delivery.conversation_id', '=', 'payment.conversation_id')
            .select('delivery.version'),
        ),
      ),
    )
    .select('payment.conversation_id')
    .orderBy('payment.finalized_at')
    .limit(PURGE_BATCH)
    .modifyEnd(sql.raw(engine.rowLock('payment')))
    .execute();
  return rows.map((row) => row.conversation_id);
}

/** Deletes payments with their history and events. Their references stay locked, and are nobody's from then on. */
async function deletePayments(db: PaymentDb, account: string, ids: readonly string[]): Promise<PurgeCounts> {
  if (ids.length === 0) return { payments: 0, events: 0 };
  await db
    .updateTable('card_payment_reference_lock')
    .set({ conversation_id: null })
    .where('account', '=', account)
    .where('conversation_id', 'in', ids)
    .execute();
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
  return { payments: ids.length, events: Number(numDeletedRows) };
}
