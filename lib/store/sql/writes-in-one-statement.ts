import { CompiledQuery, sql } from 'kysely';
import type { PaymentEvent } from '../../payment/payment-event.js';
import type { PaymentRecord } from '../../payment/payment.js';
import { pinnedReferenceOf } from '../../payment/transitions.js';
import type { UniqueKey } from '../payment-ledger.js';
import { eventToJson, historyEntryOf, historyToJson } from '../record-json.js';
import { deleteDelivery, deliveryOf, type DeliveryRow, unblockLater } from './deliveries.js';
import { codeOf } from './driver-errors.js';
import { dueDeliveries, LOOK_AHEAD } from './due-deliveries.js';
import { hostIdHashOf, keyHashOf } from './key-hash.js';
import { rowOf } from './payment-tables.js';
import type { SqlDatabase } from './sql-database.js';
import type { SqlWrites } from './sql-writes.js';
import { firstTaken, takenKeys } from './taken-key.js';

const UNIQUE_VIOLATION = '23505';
/** A key that was taken may be free again when we look whose it is: then the write is tried again, so many times. */
const MAX_TRIES = 5;
const TAKEN_AND_FREE = 'a key of the payment is taken and given up again and again';

/**
 * One statement a write, in PostgreSQL's SQL: one round trip, and nothing that a process which vanishes could leave
 * locked. Every part selects from the row that the first one wrote, so that none does anything when there is none; a
 * unique key that is taken fails the whole.
 */
export const writesInOneStatement: SqlWrites = {
  async insert(database, record, event) {
    const values = [...paymentValues(record), ...companionValues(record, event), hostIdHashOf(record)];
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      if (await unlessTaken(database, INSERT, values)) return null;
      const key = await takenKey(database, record, null);
      if (key) return key;
    }
    throw new Error(TAKEN_AND_FREE);
  },

  async replace(database, record, expectedVersion, event) {
    const own = [expectedVersion, pinnedReferenceOf(record)];
    const values = [...paymentValues(record), ...companionValues(record, event), ...own];
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const rows = await unlessTaken(database, REPLACE, values);
      if (rows) return rows.length === 0 ? 'stale' : 'replaced';
      const key = await takenKey(database, record, record.conversationId);
      if (key === 'referenceLock') return 'locked';
      if (key) throw new Error(`another payment has this ${key}`);
    }
    throw new Error(TAKEN_AND_FREE);
  },

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
    -- Who takes away what these wait for has to wait for this lock, and then makes due what is put off here.
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
    // It is deleted before others are locked, as everyone does: in another order they could wait for each other.
    const query = sql`with gone as (
  ${deleteDelivery(database, delivery).returning('event_id')}
)
${unblockLater(database, delivery).where('event_id', '!=', delivery.eventId)} and exists (select from gone)`;
    await database.statement(query.compile(database.db));
  },
};

/** A leased delivery, or nothing but how many were put off. */
type LeasedRow = { readonly put_off: number | string } & (DeliveryRow | { readonly event_id: null });

const COLUMNS = [
  'account',
  'conversation_id',
  'version',
  'state',
  'reference',
  'token_hash',
  'created_at',
  'updated_at',
  'finalized_at',
  'due_at',
  'record',
] as const;

/** History and event of the row that `written` returns. */
const HISTORY_AND_EVENT = `history as (
  insert into card_payment_history (account, conversation_id, version, entry)
  select account, conversation_id, version, $14::text from written
), event as (
  insert into card_payment_event
    (account, event_id, conversation_id, version, type, occurred_at, waiting, event)
  select account, $15::text, conversation_id, version, $16::text, $17::bigint, 1, $18::text
  from written where $15::text is not null
)
select version from written`;

const INSERT = `with written as (
  insert into card_payment (${COLUMNS.join(', ')})
  values (${COLUMNS.map((_column, index) => `$${index + 1}`).join(', ')})
  returning account, conversation_id, version
), key as (
  insert into card_payment_key (account, key_hash, conversation_id)
  select account, $12::text, conversation_id from written where $12::text is not null
  union all
  select account, $19::text, null from written where $19::text is not null
), lock as (
  insert into card_payment_reference_lock (account, reference, conversation_id)
  select account, $13::text, conversation_id from written where $13::text is not null
), ${HISTORY_AND_EVENT}`;

const REPLACE = `with written as (
  update card_payment set ${COLUMNS.map((column, index) => `${column} = $${index + 1}`)
    .slice(2)
    .join(', ')}
  where account = $1 and conversation_id = $2 and version = $19
  returning account, conversation_id, version
), released_key as (
  delete from card_payment_key as held using written
  where held.account = written.account and held.conversation_id = written.conversation_id
    and held.key_hash is distinct from $12::text
), key as (
  insert into card_payment_key (account, key_hash, conversation_id)
  select account, $12::text, conversation_id from written
  where $12::text is not null and not exists (
    select from card_payment_key as held
    where held.account = $1 and held.key_hash = $12::text and held.conversation_id = $2
  )
), released_lock as (
  delete from card_payment_reference_lock as held using written
  where held.account = written.account and held.conversation_id = written.conversation_id
    and held.reference is distinct from $13::text and held.reference is distinct from $20::text
), pinned as (
  insert into card_payment_reference_lock (account, reference, conversation_id)
  select account, $20::text, null from written where $20::text is not null
  on conflict (account, reference) do update set conversation_id = null
), lock as (
  insert into card_payment_reference_lock (account, reference, conversation_id)
  select account, $13::text, conversation_id from written
  where $13::text is not null and not exists (
    select from card_payment_reference_lock as held
    where held.account = $1 and held.reference = $13::text and held.conversation_id = $2
  )
), ${HISTORY_AND_EVENT}`;

function paymentValues(record: PaymentRecord): unknown[] {
  const row = rowOf(record);
  return COLUMNS.map((column) => row[column]);
}

/** What is written beside the record: hash of its key, reference that it locks, line of history, and event. */
function companionValues(record: PaymentRecord, event?: PaymentEvent): unknown[] {
  return [
    record.idempotencyKey === null ? null : keyHashOf(record.idempotencyKey),
    record.referenceLock,
    historyToJson(historyEntryOf(record)),
    event?.eventId ?? null,
    event?.type ?? null,
    event?.occurredAt.getTime() ?? null,
    event ? eventToJson(event) : null,
  ];
}

/** @returns the rows that were written; null when a unique key was taken */
async function unlessTaken(
  database: SqlDatabase,
  text: string,
  parameters: readonly unknown[],
): Promise<unknown[] | null> {
  try {
    return (await database.statement(CompiledQuery.raw(text, [...parameters]))).rows;
  } catch (error) {
    if (codeOf(error) === UNIQUE_VIOLATION) return null;
    throw error;
  }
}

/** The first key of the record that another payment has than the one of this id. */
async function takenKey(database: SqlDatabase, record: PaymentRecord, ownId: string | null): Promise<UniqueKey | null> {
  const [taken] = await database.find(takenKeys(database, record, ownId));
  return firstTaken(taken, record, ownId);
}
