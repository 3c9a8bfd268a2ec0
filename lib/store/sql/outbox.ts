import { sql } from 'kysely';
import type { PaymentEvent } from '../../payment/payment-event.js';
import { eventToJson } from '../record-json.js';
import type { PaymentDb } from './payment-tables.js';
import { run } from './sql-database.js';
import type { SqlEngine } from './sql-engine.js';

/**
 * Keeps others from changing who handles what in an account until the transaction ends. Transactions that write events
 * share the lock; one that changes handlers, or deletes payments, has it alone.
 */
export async function lockHandlers(
  db: PaymentDb,
  engine: SqlEngine,
  account: string,
  mode: 'shared' | 'alone',
): Promise<void> {
  const lock = engine.handlerLock(account, mode);
  if (lock) await run(db, lock);
}

/** Writes an event, with a delivery to each handler of its type. */
export async function writeEvent(db: PaymentDb, engine: SqlEngine, event: PaymentEvent): Promise<void> {
  const { eventId, type, occurredAt } = event;
  const { account, conversationId, version } = event.payment;
  await lockHandlers(db, engine, account, 'shared');
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
  await insertDeliveries(db, newDeliveries(db, account).where('event.event_id', '=', eventId));
}

/** Delivers to these handlers the events that waited for one. Needs {@link lockHandlers}, alone. */
export async function deliverWaiting(db: PaymentDb, account: string, handlerIds: readonly string[]): Promise<void> {
  const waiting = newDeliveries(db, account).where('event.waiting', '=', sql.lit(1));
  await insertDeliveries(db, waiting.where('handler.handler_id', 'in', handlerIds));
}

/** A delivery for each event and handler of its type. */
function newDeliveries(db: PaymentDb, account: string) {
  return db
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
}

async function insertDeliveries(db: PaymentDb, deliveries: ReturnType<typeof newDeliveries>): Promise<void> {
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
    .expression(deliveries)
    .execute();
}
