import { sql } from 'kysely';
import type { HandlerAnnouncement } from '../payment-store.js';
import { deliverWaiting, lockHandlers } from './outbox.js';
import type { SqlDatabase } from './sql-database.js';

/** Writes what these handlers handle from now on, and delivers to them what waited. */
export async function writeHandlers(
  database: SqlDatabase,
  account: string,
  handlers: readonly HandlerAnnouncement[],
  at: Date,
): Promise<void> {
  if (handlers.length === 0) return;
  const handlerIds = handlers.map(({ id }) => id);
  const announced = handlers.flatMap(({ id, types }) =>
    [...new Set(types)].map((type) => ({ account, type, handler_id: id, announced_at: at.getTime() })),
  );
  await database.transaction(async (db) => {
    await lockHandlers(db, database.engine, account, 'alone');
    await db
      .deleteFrom('card_payment_handler')
      .where('account', '=', account)
      .where('handler_id', 'in', handlerIds)
      .execute();
    if (announced.length === 0) return;
    await db.insertInto('card_payment_handler').values(announced).execute();
    await deliverWaiting(db, account, handlerIds);
    await db
      .updateTable('card_payment_event')
      .set({ waiting: 0 })
      .where('account', '=', account)
      .where('waiting', '=', sql.lit(1))
      .where('type', 'in', [...new Set(announced.map(({ type }) => type))])
      .execute();
  });
}

/** Deletes handlers that nobody has announced since, and the deliveries to handlers that are gone. */
export async function forgetHandlers(database: SqlDatabase, account: string, since: Date): Promise<void> {
  await database.transaction(async (db) => {
    await lockHandlers(db, database.engine, account, 'alone');
    await db
      .deleteFrom('card_payment_handler')
      .where('account', '=', account)
      .where('announced_at', '<', since.getTime())
      .execute();
    await db
      .deleteFrom('card_payment_delivery')
      .where('account', '=', account)
      .where((eb) =>
        eb(
          'handler_id',
          'not in',
          eb.selectFrom('card_payment_handler').where('account', '=', account).select('handler_id'),
        ),
      )
      .execute();
  });
}
