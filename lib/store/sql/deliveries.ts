import { sql } from 'kysely';
import type { Delivery, LeasedDelivery, Postponement } from '../payment-outbox.js';
import { eventFromJson } from '../record-json.js';
import { dateOf, type PaymentDb } from './payment-tables.js';
import type { SqlDatabase } from './sql-database.js';
import { ask } from './steps.js';

/** What names a delivery. */
export type DeliveryKey = Pick<LeasedDelivery, 'account' | 'handlerId' | 'eventId'>;

/** @returns whether it is still leased by this lease */
export async function renewDeliveryLease(
  database: SqlDatabase,
  delivery: LeasedDelivery,
  leaseMs: number,
): Promise<boolean> {
  const update = leasedDelivery(database, delivery).set({ due_at: database.fromNow(leaseMs) });
  const { numAffectedRows } = await database.statement(update.compile());
  return numAffectedRows !== 0n;
}

export async function postponeDelivery(
  database: SqlDatabase,
  delivery: LeasedDelivery,
  { attempts, error, retryInMs, parked }: Postponement,
): Promise<void> {
  await database.write(function* () {
    const update = leasedDelivery(database, delivery).set({
      attempts,
      error: JSON.stringify(error),
      parked: parked ? 1 : 0,
      lease: null,
      due_at: database.fromNow(retryInMs),
    });
    const { numAffectedRows } = yield* ask(update.compile());
    if (parked && numAffectedRows !== 0n) yield* ask(unblockLater(database, delivery).compile());
  });
}

export function deleteDelivery({ db }: SqlDatabase, { account, handlerId, eventId }: DeliveryKey) {
  return db
    .deleteFrom('card_payment_delivery')
    .where('account', '=', account)
    .where('handler_id', '=', handlerId)
    .where('event_id', '=', eventId);
}

/**
 * Makes due what was passed over because it waited for this delivery, or for another one of its payment. What is due
 * already is written, too: someone who has it locked may be about to put it off.
 */
export function unblockLater(database: SqlDatabase, { account, handlerId, eventId }: DeliveryKey) {
  const now = database.fromNow();
  return database.db
    .updateTable('card_payment_delivery')
    .set({ due_at: sql<number>`case when due_at > ${now} then ${now} else due_at end` })
    .where('account', '=', account)
    .where('conversation_id', '=', eventId.slice(0, eventId.lastIndexOf(':')))
    .where('handler_id', '=', handlerId)
    .where('parked', '=', sql.lit(0))
    .where('lease', 'is', null)
    .where('attempts', '=', 0);
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
  const update = database.db
    .updateTable('card_payment_delivery')
    .set({ attempts: 0, parked: 0, error: null, due_at: database.fromNow() })
    .where('account', '=', account)
    .where('handler_id', '=', handlerId)
    .where('event_id', '=', eventId)
    .where('parked', '=', sql.lit(1));
  const { numAffectedRows } = await database.statement(update.compile());
  return numAffectedRows !== 0n;
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

export type DeliveryRow = Awaited<ReturnType<ReturnType<typeof withEvents>['execute']>>[number];

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

function leasedDelivery({ db }: SqlDatabase, { account, handlerId, eventId, lease }: LeasedDelivery) {
  return db
    .updateTable('card_payment_delivery')
    .where('account', '=', account)
    .where('handler_id', '=', handlerId)
    .where('event_id', '=', eventId)
    .where('lease', '=', lease);
}
