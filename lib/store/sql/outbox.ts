import { sql } from 'kysely';
import type { PaymentEvent } from '../../payment/payment-event.js';
import type { Delivery, HandlerAnnouncement, LeaseRequest } from '../payment-store.js';
import { eventFromJson, eventToJson } from '../record-json.js';
import type { SqlDialect } from './payment-schema.js';
import { dateOf } from './payment-tables.js';
import type { PaymentDb } from './sql-connection.js';

/**
 * Nobody changes who handles what in an account until the transaction ends. Those who tell events share the lock; who changes handlers has
 * it alone. On SQLite a transaction is alone anyway.
 */
export async function lockHandlers(
  db: PaymentDb,
  dialect: SqlDialect,
  account: string,
  mode: 'shared' | 'alone',
): Promise<void> {
  if (dialect === 'sqlite') return;
  const lock = sql.raw(mode === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock');
  await sql`select ${lock}(hashtextextended(${`card_payment ${account}`}, 0))`.execute(db);
}

/** Writes an event, with a delivery to each handler of its type. Needs {@link lockHandlers}. */
export async function writeEvent(db: PaymentDb, event: PaymentEvent): Promise<void> {
  const { eventId, type, occurredAt } = event;
  const { account, conversationId, version } = event.payment;
  await db
    .insertInto('card_payment_event')
    .values((eb) => ({
      account,
      event_id: eventId,
      conversation_id: conversationId,
      version,
      type,
      occurred_at: occurredAt.getTime(),
      waiting: eb
        .case()
        .when(
          eb.exists(
            eb
              .selectFrom('card_payment_handler')
              .where('account', '=', account)
              .where('type', '=', type)
              .select('type'),
          ),
        )
        .then(eb.lit(0))
        .else(eb.lit(1))
        .end(),
      event: eventToJson(event),
    }))
    .execute();
  await deliver(db, account, { eventId });
}

/** Writes who handles what from now on, and gives these handlers what waited for them. Needs {@link lockHandlers}. */
export async function writeHandlers(
  db: PaymentDb,
  account: string,
  handlers: readonly HandlerAnnouncement[],
  at: Date,
): Promise<void> {
  const handlerIds = handlers.map(({ id }) => id);
  const announced = handlers.flatMap(({ id, types }) =>
    [...new Set(types)].map((type) => ({ account, type, handler_id: id, announced_at: at.getTime() })),
  );
  await db
    .deleteFrom('card_payment_handler')
    .where('account', '=', account)
    .where('handler_id', 'in', handlerIds)
    .execute();
  if (announced.length === 0) return;
  await db.insertInto('card_payment_handler').values(announced).execute();
  await deliver(db, account, { handlerIds });
  await db
    .updateTable('card_payment_event')
    .set({ waiting: 0 })
    .where('account', '=', account)
    .where('waiting', '=', sql.lit(1))
    .where('type', 'in', [...new Set(announced.map(({ type }) => type))])
    .execute();
}

/** Makes deliveries: of one event to whoever handles its type, or of what waits to these handlers. */
async function deliver(
  db: PaymentDb,
  account: string,
  what: { readonly eventId: string } | { readonly handlerIds: readonly string[] },
): Promise<void> {
  const made = db
    .selectFrom('card_payment_event as event')
    .innerJoin('card_payment_handler as handler', (join) =>
      join.onRef('handler.account', '=', 'event.account').onRef('handler.type', '=', 'event.type'),
    )
    .where('event.account', '=', account)
    .select((eb) => [
      'event.account',
      'handler.handler_id',
      'event.event_id',
      'event.conversation_id',
      'event.version',
      'event.occurred_at',
      eb.lit(0).as('attempts'),
      eb.lit(0).as('parked'),
      'event.occurred_at as due_at',
    ]);
  await db
    .insertInto('card_payment_delivery')
    .columns([
      'account',
      'handler_id',
      'event_id',
      'conversation_id',
      'version',
      'occurred_at',
      'attempts',
      'parked',
      'due_at',
    ])
    .expression(
      'eventId' in what
        ? made.where('event.event_id', '=', what.eventId)
        : made.where('event.waiting', '=', sql.lit(1)).where('handler.handler_id', 'in', what.handlerIds),
    )
    .execute();
}

/** Takes due deliveries to these handlers, oldest event first. Each handler is asked for by itself, as the index has it. */
export async function leaseDeliveries(
  db: PaymentDb,
  dialect: SqlDialect,
  { account, handlerIds, now, until, limit }: LeaseRequest & { readonly handlerIds: readonly string[] },
): Promise<Delivery[]> {
  const due: DeliveryRow[] = [];
  for (const handlerId of new Set(handlerIds)) {
    due.push(
      ...(await openDeliveries(db, account)
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
        .$if(dialect === 'postgres', (query) => query.forUpdate('delivery').skipLocked())
        .execute()),
    );
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
}

/** Open deliveries of an account, oldest event first. */
export function openDeliveries(db: PaymentDb, account: string) {
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
