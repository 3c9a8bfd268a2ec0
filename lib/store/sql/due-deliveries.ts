import { type ExpressionBuilder, sql } from 'kysely';
import { type DeliveryLeaseRequest, PAIR_ALIVE_MS } from '../payment-outbox.js';
import type { PaymentTables } from './payment-tables.js';
import type { SqlDatabase } from './sql-database.js';

/** How many due deliveries are looked at for each that is wanted: some wait for an earlier one of their payment. */
export const LOOK_AHEAD = 4;
/** Locks what is due to a handler, the longest due first. Each type has a query of its own, which fits the index. */
export function dueDeliveries(
  database: SqlDatabase,
  { account, handlerId, types, leaseMs, limit }: DeliveryLeaseRequest,
) {
  const { db } = database;
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
    .limit(sql.lit(seen))
    .modifyEnd(sql.raw(database.engine.rowLock('delivery')));
}

/**
 * Null for a delivery that waits for no earlier one of its payment. Otherwise until when it waits at least, if nothing
 * happens to that one; 0 when that is not known.
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
