import { sql } from 'kysely';
import {
  deleteDelivery,
  deliveryOf,
  type DeliveryRow,
  dueDeliveries,
  LOOK_AHEAD,
  unblockLater,
} from '../../deliveries.js';
import type { OutboxWrites } from '../../sql-engine.js';

/** Writes deliveries in a single statement each, in PostgreSQL's SQL. */
export const outboxWrites: OutboxWrites = {
  async fanOut(database, account, limit) {
    const query = sql<{ count: string }>`
with guard as materialized (
  select pg_try_advisory_xact_lock(hashtextextended(${`card_payment ${account}`}, 0)) as free
), pair as materialized (
  select handler_id, type from card_payment_handler where account = ${account}
), oldest as (
  select event.conversation_id, event.occurred_at
  from (select distinct type from pair) as known
  cross join lateral (
    select conversation_id, occurred_at from card_payment_event
    where account = ${account} and type = known.type and waiting = 1
    order by occurred_at limit ${sql.lit(limit)}
  ) as event
), payment as materialized (
  select conversation_id from oldest group by conversation_id order by min(occurred_at) limit ${sql.lit(limit)}
), locked as materialized (
  select event.account, event.event_id, event.conversation_id, event.version, event.type, event.occurred_at
  from card_payment_event as event
  where (select free from guard) and event.account = ${account} and event.waiting = 1
    and event.conversation_id in (select conversation_id from payment) and event.type in (select type from pair)
  for update of event skip locked
), ready as materialized (
  select * from locked where not exists (
    select from card_payment_event as earlier
    where earlier.account = locked.account and earlier.conversation_id = locked.conversation_id
      and earlier.version < locked.version and earlier.waiting = 1 and earlier.type in (select type from pair)
      and earlier.event_id not in (select event_id from locked)
  )
), delivered as (
  insert into card_payment_delivery
    (account, handler_id, event_id, conversation_id, version, type, occurred_at, attempts, parked, due_at)
  select ready.account, pair.handler_id, ready.event_id, ready.conversation_id, ready.version, ready.type,
    ready.occurred_at, 0, 0, ${database.fromNow()}
  from ready join pair on pair.type = ready.type
), marked as (
  update card_payment_event as event set waiting = 0 from ready
  where event.account = ready.account and event.event_id = ready.event_id
  returning event.event_id
)
select count(*) as count from marked`;
    const { rows } = await database.statement(query.compile(database.db));
    return Number(rows[0]?.count ?? 0);
  },

  async leaseSome(database, request) {
    const { account, handlerId, lease, limit } = request;
    const ofHandler = sql`delivery.account = ${account} and delivery.handler_id = ${handlerId}
    and delivery.event_id = due.event_id`;
    const query = sql<LeasedRow>`with due as materialized (
  ${dueDeliveries(database, request)}
), waiting as materialized (
  select event_id, blocked_until from due
  where attempts = 0 and blocked_until > now::bigint and (select count(*) from due) = ${sql.lit(LOOK_AHEAD * limit)}
    -- A process that removes what these wait for waits for this lock, and then makes due what is postponed here.
    and exists (
      select from card_payment_delivery as earlier
      where earlier.account = ${account} and earlier.conversation_id = due.conversation_id
        and earlier.handler_id = ${handlerId} and earlier.version < due.version and earlier.parked = 0
      for key share skip locked
    )
), put_off as (
  update card_payment_delivery as delivery set due_at = due.blocked_until from waiting as due
  where ${ofHandler}
  returning delivery.event_id
), free as (
  select * from due where blocked_until is null order by due_at, version limit ${sql.lit(limit)}
), leased as (
  update card_payment_delivery as delivery set lease = ${lease}, due_at = due.until::bigint from free as due
  where ${ofHandler}
  returning delivery.account, delivery.handler_id, delivery.event_id, delivery.attempts, delivery.parked,
    delivery.error, delivery.due_at, due.due_at as was_due_at, due.version
)
select look.put_off, leased.*, event.event
from (select count(*) as put_off from put_off) as look
left join leased on true
left join card_payment_event as event on event.account = leased.account and event.event_id = leased.event_id
order by leased.was_due_at, leased.version`;
    const { rows } = await database.statement(query.compile(database.db));
    const leased = rows.flatMap((row) => (row.event_id === null ? [] : [deliveryOf(row)]));
    return { leased, isDone: Number(rows[0]?.put_off) === 0 };
  },

  async acknowledge(database, delivery) {
    // Every process deletes the delivery before it locks others: in different orders they could wait for each other.
    const query = sql`with gone as (
  ${deleteDelivery(database, delivery).returning('event_id')}
)
${unblockLater(database, delivery).where('event_id', '!=', delivery.eventId)} and exists (select from gone)`;
    await database.statement(query.compile(database.db));
  },
};

/** A leased delivery; where none was leased, one row with the count of those that were postponed. */
type LeasedRow = { readonly put_off: number | string } & (DeliveryRow | { readonly event_id: null });
