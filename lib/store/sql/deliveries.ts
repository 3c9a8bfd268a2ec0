import { sql } from 'kysely';
import type { Delivery, LeaseRequest } from '../payment-store.js';
import { eventFromJson } from '../record-json.js';
import { dateOf, type PaymentDb } from './payment-tables.js';
import type { SqlDatabase } from './sql-database.js';
import type { SqlEngine } from './sql-engine.js';

/**
 * Leases due deliveries to these handlers, oldest event first. Each handler has a query of its own, which fits the
 * index.
 */
export function leaseDueDeliveries(
  database: SqlDatabase,
  { account, handlerIds, now, until, limit }: LeaseRequest & { readonly handlerIds: readonly string[] },
): Promise<Delivery[]> {
  return database.transaction(async (db) => {
    const due: DeliveryRow[] = [];
    for (const handlerId of new Set(handlerIds)) {
      due.push(...(await lockDue(db, database.engine, account, handlerId, now, limit)));
    }
    due.sort((one, other) => Number(one.occurred_at) - Number(other.occurred_at));
    const leased = due.slice(0, limit);
    for (const handlerId of new Set(leased.map((row) => row.handler_id))) {
      const eventIds = leased.filter((row) => row.handler_id === handlerId).map((row) => row.event_id);
      await db
        .updateTable('card_payment_delivery')
        .set({ due_at: until.getTime() })
        .where('account', '=', account)
        .where('handler_id', '=', handlerId)
        .where('event_id', 'in', eventIds)
        .execute();
    }
    return leased.map((row) => deliveryOf({ ...row, due_at: until.getTime() }));
  });
}

/** Locks what is due to a handler: of each payment, the lowest version that is not parked. */
function lockDue(
  db: PaymentDb,
  engine: SqlEngine,
  account: string,
  handlerId: string,
  now: Date,
  limit: number,
): Promise<DeliveryRow[]> {
  return openDeliveries(db, account)
    .where('delivery.handler_id', '=', handlerId)
    .where('delivery.parked', '=', sql.lit(0))
    .where('delivery.due_at', '<=', now.getTime())
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('card_payment_delivery as earlier')
            .whereRef('earlier.account', '=', 'delivery.account')
            .whereRef('earlier.conversation_id', '=', 'delivery.conversation_id')
            .whereRef('earlier.handler_id', '=', 'delivery.handler_id')
            .whereRef('earlier.version', '<', 'delivery.version')
            .where('earlier.parked', '=', eb.lit(0))
            .select('earlier.version'),
        ),
      ),
    )
    .limit(limit)
    .modifyEnd(sql.raw(engine.rowLock('delivery')))
    .execute();
}

export async function deleteDelivery(
  database: SqlDatabase,
  account: string,
  handlerId: string,
  eventId: string,
): Promise<void> {
  await database.transaction((db) =>
    db
      .deleteFrom('card_payment_delivery')
      .where('account', '=', account)
      .where('handler_id', '=', handlerId)
      .where('event_id', '=', eventId)
      .execute(),
  );
}

export async function updateDelivery(
  database: SqlDatabase,
  { account, handlerId, event, attempts, parked, error, dueAt }: Delivery,
): Promise<void> {
  await database.transaction((db) =>
    db
      .updateTable('card_payment_delivery')
      .set({
        attempts,
        parked: parked ? 1 : 0,
        error: error === null ? null : JSON.stringify(error),
        due_at: dueAt.getTime(),
      })
      .where('account', '=', account)
      .where('handler_id', '=', handlerId)
      .where('event_id', '=', event.eventId)
      .execute(),
  );
}

export async function parkedDeliveries(database: SqlDatabase, account: string, limit: number): Promise<Delivery[]> {
  const parked = openDeliveries(database.db, account).where('parked', '=', sql.lit(1)).limit(limit);
  return (await database.read(parked)).map(deliveryOf);
}

/** @returns whether there was such a parked delivery */
export async function replayDelivery(
  database: SqlDatabase,
  account: string,
  handlerId: string,
  eventId: string,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await database.transaction((db) =>
    db
      .updateTable('card_payment_delivery')
      .set({ attempts: 0, parked: 0, error: null, due_at: now.getTime() })
      .where('account', '=', account)
      .where('handler_id', '=', handlerId)
      .where('event_id', '=', eventId)
      .where('parked', '=', sql.lit(1))
      .executeTakeFirstOrThrow(),
  );
  return numUpdatedRows > 0n;
}

/** Open deliveries of an account, oldest event first. */
function openDeliveries(db: PaymentDb, account: string) {
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
      'delivery.occurred_at',
      'delivery.attempts',
      'delivery.parked',
      'delivery.error',
      'delivery.due_at',
      'event.event',
    ])
    .orderBy('delivery.occurred_at');
}

type DeliveryRow = Awaited<ReturnType<ReturnType<typeof openDeliveries>['execute']>>[number];

function deliveryOf(row: DeliveryRow): Delivery {
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
