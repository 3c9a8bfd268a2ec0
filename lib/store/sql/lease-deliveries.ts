import { type ExpressionBuilder, sql } from 'kysely';
import { type Delivery, type DeliveryLeaseRequest, PAIR_ALIVE_MS } from '../payment-store.js';
import { deliveryOf, withEvents } from './deliveries.js';
import type { PaymentDb, PaymentTables } from './payment-tables.js';
import type { SqlDatabase } from './sql-database.js';

/** How many due deliveries are looked at for each that is wanted: some wait for an earlier one of their payment. */
const LOOK_AHEAD = 4;
/** How long a delivery is passed over whose earlier one is for another version of the shop to take. */
const PASS_OVER_MS = 5_000;

/** Leases due deliveries to a handler, the longest due first. */
export async function leaseDueDeliveries(database: SqlDatabase, request: DeliveryLeaseRequest): Promise<Delivery[]> {
  if (request.types.length === 0) return [];
  for (;;) {
    const { leased, isDone } = await leaseSome(database, request);
    if (leased.length > 0 || isDone) return leased;
  }
}

/**
 * Looks at the first due deliveries. Those that wait for an earlier one, which is due later, are put behind it: otherwise they would be
 * in the way of all others each time.
 */
function leaseSome(
  database: SqlDatabase,
  request: DeliveryLeaseRequest,
): Promise<{ leased: Delivery[]; isDone: boolean }> {
  const { account, handlerId, lease, limit } = request;
  return database.transaction(async (db) => {
    const due = await lockDue(database, db, request);
    const leasedIds = due
      .filter((row) => row.blocked_until === null)
      .slice(0, limit)
      .map((row) => row.event_id);
    const put = (eventIds: readonly string[], changes: { lease?: string; due_at: number }) =>
      db
        .updateTable('card_payment_delivery')
        .set(changes)
        .where('account', '=', account)
        .where('handler_id', '=', handlerId)
        .where('event_id', 'in', eventIds)
        .execute();
    const passedOver = due.filter((row) => Number(row.blocked_until ?? -1) >= Number(row.due_at));
    for (const { event_id: eventId, blocked_until: blockedUntil, now } of passedOver) {
      await put([eventId], { due_at: Math.min(Number(blockedUntil) + 1, Number(now) + PAIR_ALIVE_MS) });
    }
    const isDone = passedOver.length === 0 || due.length < LOOK_AHEAD * limit;
    if (leasedIds.length === 0) return { leased: [], isDone };
    await put(leasedIds, { lease, due_at: Number(due[0]?.until) });
    const leased = await withEvents(db, account)
      .where('delivery.handler_id', '=', handlerId)
      .where('delivery.event_id', 'in', leasedIds)
      .execute();
    leased.sort((one, other) => leasedIds.indexOf(one.event_id) - leasedIds.indexOf(other.event_id));
    return { leased: leased.map(deliveryOf), isDone };
  });
}

/** Locks what is due to a handler, the longest due first. Each type has a query of its own, which fits the index. */
function lockDue(
  database: SqlDatabase,
  db: PaymentDb,
  { account, handlerId, types, leaseMs, limit }: DeliveryLeaseRequest,
) {
  const seen = LOOK_AHEAD * limit;
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
          .limit(sql.lit(seen))
          .select('event_id')
          .as('due'),
      )
      .select('due.event_id');
  const [first = '', ...others] = new Set<string>(types);
  return db
    .selectFrom('card_payment_delivery as delivery')
    .where('delivery.account', '=', account)
    .where('delivery.handler_id', '=', handlerId)
    .where(
      'delivery.event_id',
      'in',
      others.reduce((query, type) => query.unionAll(ofType(type)), ofType(first)),
    )
    .where('delivery.parked', '=', sql.lit(0))
    .where('delivery.due_at', '<=', database.fromNow())
    .select((eb) => [
      'delivery.event_id',
      'delivery.due_at',
      database.fromNow().as('now'),
      database.fromNow(leaseMs).as('until'),
      blockedUntil(eb, database, types).as('blocked_until'),
    ])
    .orderBy('delivery.due_at')
    .orderBy('delivery.version')
    .limit(sql.lit(seen))
    .modifyEnd(sql.raw(database.engine.rowLock('delivery')))
    .execute();
}

/**
 * When the last of the deliveries that a delivery waits for is due: null when it waits for none. One that is leased
 * counts as 0, since it will be gone in a moment.
 */
function blockedUntil(
  eb: ExpressionBuilder<PaymentTables & { delivery: PaymentTables['card_payment_delivery'] }, 'delivery'>,
  database: SqlDatabase,
  types: readonly string[],
) {
  const now = database.fromNow();
  const laterOn = database.fromNow(PASS_OVER_MS);
  return eb
    .selectFrom('card_payment_delivery as earlier')
    .whereRef('earlier.account', '=', 'delivery.account')
    .whereRef('earlier.conversation_id', '=', 'delivery.conversation_id')
    .whereRef('earlier.handler_id', '=', 'delivery.handler_id')
    .whereRef('earlier.version', '<', 'delivery.version')
    .where('earlier.parked', '=', sql.lit(0))
    .where((inner) =>
      inner.or([
        inner('earlier.type', 'in', types),
        inner.and([inner('earlier.lease', 'is not', null), inner('earlier.due_at', '>', now)]),
        inner.exists(
          inner
            .selectFrom('card_payment_handler as handler')
            .whereRef('handler.account', '=', 'earlier.account')
            .whereRef('handler.type', '=', 'earlier.type')
            .whereRef('handler.handler_id', '=', 'earlier.handler_id')
            .where('handler.announced_at', '>', database.fromNow(-PAIR_ALIVE_MS))
            .select('handler.type'),
        ),
      ]),
    )
    .select((inner) =>
      inner.fn
        .max(
          inner
            .case()
            .when(inner.and([inner('earlier.lease', 'is not', null), inner('earlier.due_at', '>', now)]))
            .then(sql<number>`0`)
            .when(inner.or([inner('earlier.type', 'in', types), inner('earlier.due_at', '>', laterOn)]))
            .then(inner.ref('earlier.due_at'))
            .else(laterOn)
            .end(),
        )
        .as('until'),
    );
}
