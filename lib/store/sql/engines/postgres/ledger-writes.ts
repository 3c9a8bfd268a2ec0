import { CompiledQuery } from 'kysely';
import type { LedgerEvent } from '../../../../payment/ledger-event.js';
import type { PaymentRecord } from '../../../../payment/payment.js';
import { pinnedReferenceOf } from '../../../../payment/transitions.js';
import { eventToJson, historyEntryOf, historyToJson } from '../../../record-json.js';
import { codeOf } from '../../driver-errors.js';
import { hostIdHashOf, keyHashOf, rowOf } from '../../payment-tables.js';
import type { SqlDatabase } from '../../sql-database.js';
import { ledgerWritesBy } from '../../tried-writes.js';

const UNIQUE_VIOLATION = '23505';

/**
 * Writes each transition in a single statement, in PostgreSQL's SQL: one round trip, and no lock that a process which
 * vanishes could leave. Every part selects from the row that the first part wrote, and does nothing where there is
 * none; a unique key that is taken fails the whole statement.
 */
export const ledgerWrites = ledgerWritesBy({
  insert(database, record, event) {
    const values = [...paymentValues(record), ...companionValues(record, event), hostIdHashOf(record)];
    return writtenUnlessTaken(database, INSERT, values);
  },

  replace(database, record, { version: expectedVersion }, event) {
    const own = [expectedVersion, pinnedReferenceOf(record)];
    return writtenUnlessTaken(database, REPLACE, [...paymentValues(record), ...companionValues(record, event), ...own]);
  },
});

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

/** Adds the history line and the event of the row that `written` returns. */
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

/**
 * What is written along with the record: the hash of its key, the reference that it locks, its history line, its event.
 */
function companionValues(record: PaymentRecord, event?: LedgerEvent): unknown[] {
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

/** @returns how many records were written; null when a unique key was taken */
async function writtenUnlessTaken(
  database: SqlDatabase,
  text: string,
  parameters: readonly unknown[],
): Promise<number | null> {
  try {
    return (await database.statement(CompiledQuery.raw(text, [...parameters]))).rows.length;
  } catch (error) {
    if (codeOf(error) === UNIQUE_VIOLATION) return null;
    throw error;
  }
}
