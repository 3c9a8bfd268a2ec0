import { sql } from 'kysely';
import type { Delivery, LeasedDelivery, Postponement } from '../payment-store.js';
import { eventFromJson } from '../record-json.js';
import { dateOf, type PaymentDb } from './payment-tables.js';
import type { SqlDatabase } from './sql-database.js';

/** @returns whether it is still leased by this lease */
export async function renewDeliveryLease(
  database: SqlDatabase,
  delivery: LeasedDelivery,
  leaseMs: number,
): Promise<boolean> {
  const { numUpdatedRows } = await database.statement((db) =>
    leasedDelivery(db, delivery)
      .set({ due_at: database.fromNow(leaseMs) })
      .executeTakeFirstOrThrow(),
  );
  return numUpdatedRows > 0n;
}

export async function postponeDelivery(
  database: SqlDatabase,
  delivery: LeasedDelivery,
  { attempts, error, retryInMs, parked }: Postponement,
): Promise<void> {
  await database.transaction(async (db) => {
    const { numUpdatedRows } = await leasedDelivery(db, delivery)
      .set({
        attempts,
        error: JSON.stringify(error),
        parked: parked ? 1 : 0,
        lease: null,
        due_at: database.fromNow(retryInMs),
      })
      .executeTakeFirstOrThrow();
    if (parked && numUpdatedRows > 0n) await unblockLater(database, db, delivery);
  });
}

export async function deleteDelivery(
  database: SqlDatabase,
  account: string,
  handlerId: string,
  eventId: string,
): Promise<void> {
  await database.transaction(async (db) => {
    await db
      .deleteFrom('card_payment_delivery')
      .where('account', '=', account)
      .where('handler_id', '=', handlerId)
      .where('event_id', '=', eventId)
      .execute();
    await unblockLater(database, db, { account, handlerId, eventId });
  });
}

export async function parkedDeliveries(database: SqlDatabase, account: string, limit: number): Promise<Delivery[]> {
  const parked = withEvents(database.db, account)
    .where('delivery.parked', '=', sql.lit(1))
    .orderBy('delivery.occurred_at')
    .limit(limit);
  return (await database.read(parked)).map(deliveryOf);
}

/** @returns whether there was such a parked delivery */
export async function replayDelivery(
  database: SqlDatabase,
  account: string,
  handlerId: string,
  eventId: string,
): Promise<boolean> {
  const { numUpdatedRows } = await database.statement((db) =>
    db
      .updateTable('card_payment_delivery')
      .set({ attempts: 0, parked: 0, error: null, due_at: database.fromNow() })
      .where('account', '=', account)
      .where('handler_id', '=', handlerId)
      .where('event_id', '=', eventId)
      .where('parked', '=', sql.lit(1))
      .executeTakeFirstOrThrow(),
  );
  return numUpdatedRows > 0n;
}

/** Open deliveries of an account, each with its event. */
export function withEvents(db: PaymentDb, account: string) {
  return db
    .selectFrom('card_payment_delivery as delivery')
    .innerJoin('card_payment_event as event', (join) =>
      join.onRef('event.account', '=', 'delivery.account').onRef('event.event_id', '=', 'delivery.event_id'),
    )
    .where('delivery.account', '=', account)
    .select([
      'delivery.account',
      'delivery.handler_id',
      'delivery.event_id',
      'delivery.attempts',
      'delivery.parked',
      'delivery.error',
      'delivery.due_at',
      'event.event',
    ]);
}

type DeliveryRow = Awaited<ReturnType<ReturnType<typeof withEvents>['execute']>>[number];

export function deliveryOf(row: DeliveryRow): Delivery {
  return {
    account: row.account,
    handlerId: row.handler_id,
    event: eventFromJson(row.event),
    attempts: row.attempts,
    parked: row.parked === 1,
    error: row.error === null ? null : (JSON.parse(row.error) as string),
    dueAt: dateOf(row.due_at),
  };
}

function leasedDelivery(db: PaymentDb, { account, handlerId, eventId, lease }: LeasedDelivery) {
  return db
    .updateTable('card_payment_delivery')
    .where('account', '=', account)
    .where('handler_id', '=', handlerId)
    .where('event_id', '=', eventId)
    .where('lease', '=', lease);
}

/** Makes due what was passed over because it waited for this delivery, or for another one of its payment. */
async function unblockLater(
  database: SqlDatabase,
  db: PaymentDb,
  { account, handlerId, eventId }: Pick<LeasedDelivery, 'account' | 'handlerId' | 'eventId'>,
): Promise<void> {
  await db
    .updateTable('card_payment_delivery')
    .set({ due_at: database.fromNow() })
    .where('account', '=', account)
    .where('conversation_id', '=', eventId.slice(0, eventId.lastIndexOf(':')))
    .where('handler_id', '=', handlerId)
    .where('parked', '=', sql.lit(0))
    .where('lease', 'is', null)
    .where('attempts', '=', 0)
    .where('due_at', '>', database.fromNow())
    .execute();
}
