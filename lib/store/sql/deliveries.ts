import { type ExpressionBuilder, sql } from 'kysely';
import { type Delivery, type DeliveryLeaseRequest, type LeasedDelivery, PAIR_ALIVE_MS } from '../payment-store.js';
import { eventFromJson } from '../record-json.js';
import { dateOf, type PaymentDb, type PaymentTables } from './payment-tables.js';
import type { SqlDatabase } from './sql-database.js';

/** The fields that identify a delivery. */
export type DeliveryKey = Pick<LeasedDelivery, 'account' | 'handlerId' | 'eventId'>;

/** Deliveries of an account, each with its event. */
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
    attempts: Number(row.attempts),
    parked: Number(row.parked) === 1,
    error: row.error === null ? null : (JSON.parse(row.error) as string),
    dueAt: dateOf(row.due_at),
  };
}

export function deleteDelivery({ db }: SqlDatabase, { account, handlerId, eventId }: DeliveryKey) {
  return db
    .deleteFrom('card_payment_delivery')
    .where('account', '=', account)
    .where('handler_id', '=', handlerId)
    .where('event_id', '=', eventId);
}

/**
 * Makes due the deliveries that were postponed because they waited for this one, or for another one of its payment. It
 * writes those that are due already as well: another process that has them locked may be about to postpone them.
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

/** How many due deliveries are read for each one to be leased: some wait for an earlier one of their payment. */
export const LOOK_AHEAD = 4;

/**
 * The deliveries that are due to a handler, some more than are to be leased. Queries each type separately, so that each
 * subquery reads the index in its order.
 */
export function dueEventIds(database: SqlDatabase, { account, handlerId, types, limit }: DeliveryLeaseRequest) {
  const { db } = database;
  const ofType = (type: string) =>
    db
      .selectFrom((eb) =>
        eb
          .selectFrom('card_payment_delivery')
          .where('account', '=', account)
          .where('handler_id', '=', handlerId)
          .where('type', '=', type)
          .where('parked', '=', eb.lit(0))
          .where('due_at', '<=', database.fromNow())
          .orderBy('due_at')
          .orderBy('version')
          .limit(sql.lit(LOOK_AHEAD * limit))
          .select('event_id')
          .as('due'),
      )
      .select('due.event_id');
  const [first = '', ...others] = new Set<string>(types);
  return others.reduce((query, type) => query.unionAll(ofType(type)), ofType(first));
}

/**
 * Locks the deliveries that are due to a handler, the longest due first.
 * @param eventIds which ones may be due, if that has been read already
 */
export function dueDeliveries(database: SqlDatabase, request: DeliveryLeaseRequest, eventIds?: readonly string[]) {
  const { account, handlerId, types, leaseMs, limit } = request;
  return database.db
    .selectFrom('card_payment_delivery as delivery')
    .where('delivery.account', '=', account)
    .where('delivery.handler_id', '=', handlerId)
    .where('delivery.event_id', 'in', eventIds ?? dueEventIds(database, request))
    .where('delivery.parked', '=', sql.lit(0))
    .where('delivery.due_at', '<=', database.fromNow())
    .select((eb) => [
      'delivery.event_id',
      'delivery.conversation_id',
      'delivery.version',
      'delivery.attempts',
      'delivery.due_at',
      database.fromNow().as('now'),
      database.fromNow(leaseMs).as('until'),
      blockedUntil(eb, database, types).as('blocked_until'),
    ])
    .orderBy('delivery.due_at')
    .orderBy('delivery.version')
    .limit(sql.lit(LOOK_AHEAD * limit))
    .modifyEnd(database.rowLock('delivery'));
}

export type DueRow = Awaited<ReturnType<ReturnType<typeof dueDeliveries>['execute']>>[number];

/**
 * Null for a delivery that waits for no earlier one of its payment. Otherwise the time until which it waits if nothing
 * happens to the earlier one, or 0 if that is not known.
 */
function blockedUntil(
  eb: ExpressionBuilder<PaymentTables & { delivery: PaymentTables['card_payment_delivery'] }, 'delivery'>,
  database: SqlDatabase,
  types: readonly string[],
) {
  const now = database.fromNow();
  const aliveSince = database.fromNow(-PAIR_ALIVE_MS);
  return eb
    .selectFrom('card_payment_delivery as earlier')
    .leftJoin('card_payment_handler as pair', (join) =>
      join
        .onRef('pair.account', '=', 'earlier.account')
        .onRef('pair.type', '=', 'earlier.type')
        .onRef('pair.handler_id', '=', 'earlier.handler_id'),
    )
    .whereRef('earlier.account', '=', 'delivery.account')
    .whereRef('earlier.conversation_id', '=', 'delivery.conversation_id')
    .whereRef('earlier.handler_id', '=', 'delivery.handler_id')
    .whereRef('earlier.version', '<', 'delivery.version')
    .where('earlier.parked', '=', sql.lit(0))
    .where((inner) =>
      inner.or([
        inner('pair.announced_at', '>', aliveSince),
        inner.and([inner('earlier.lease', 'is not', null), inner('earlier.due_at', '>', now)]),
        inner.and([inner('earlier.type', 'in', types), inner('earlier.due_at', '<=', now)]),
      ]),
    )
    .select((inner) =>
      inner.fn
        .max(
          inner
            .case()
            .when('pair.announced_at', '>', aliveSince)
            .then(sql<number>`pair.announced_at + ${sql.lit(PAIR_ALIVE_MS)}`)
            .else(sql<number>`0`)
            .end(),
        )
        .as('until'),
    );
}
