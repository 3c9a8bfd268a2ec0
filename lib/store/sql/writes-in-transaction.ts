import { sql } from 'kysely';
import type { PaymentEvent } from '../../payment/payment-event.js';
import type { PaymentRecord } from '../../payment/payment.js';
import { eventToJson, historyEntryOf, historyToJson } from '../record-json.js';
import { keyHashOf } from './key-hash.js';
import { type PaymentDb, rowOf } from './payment-tables.js';
import { run, type SqlDatabase, Undo } from './sql-database.js';
import type { SqlWrites, WriteOutcome } from './sql-writes.js';

/** A transaction of several statements, in SQL that most databases know. `update … returning` is needed. */
export const writesInTransaction: SqlWrites = {
  insert(database, record, event) {
    return database.transaction<WriteOutcome>(async (db) => {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('card_payment')
        .values(rowOf(record))
        .modifyEnd(sql.raw(database.engine.unlessTaken))
        .executeTakeFirstOrThrow();
      if (numInsertedOrUpdatedRows === 0n) throw new Undo('taken');
      if (record.idempotencyKey !== null) await takeKey(database, db, record, keyHashOf(record.idempotencyKey));
      if (record.referenceLock !== null) await lockReference(database, db, record, record.referenceLock);
      await writeHistoryAndEvent(database, db, record, event);
      return 'done';
    });
  },

  replace(database, record, expectedVersion, event) {
    const { account, referenceLock, idempotencyKey } = record;
    const keyHash = idempotencyKey === null ? null : keyHashOf(idempotencyKey);
    return database.transaction<WriteOutcome>(async (db) => {
      const held = await updatePayment(database, db, record, expectedVersion);
      if (!held) return 'stale';
      const { heldReference, heldKeyHash } = held;
      if (heldReference !== null && heldReference !== referenceLock) await unlockReference(db, account, heldReference);
      if (heldKeyHash !== null && heldKeyHash !== keyHash) await releaseKey(db, account, heldKeyHash);
      if (keyHash !== null && heldKeyHash !== keyHash) await takeKey(database, db, record, keyHash);
      if (referenceLock !== null && heldReference !== referenceLock)
        await lockReference(database, db, record, referenceLock);
      await writeHistoryAndEvent(database, db, record, event);
      return 'done';
    });
  },

  fanOut(database, account, limit) {
    return database.transaction(async (db) => {
      if (database.engine.fanOutLock) await run(db, database.engine.fanOutLock(account));
      const eventIds = await eventsToFanOut(db, account, limit);
      if (eventIds.length === 0) return 0;
      await insertDeliveries(database, db, account, eventIds);
      await db
        .updateTable('card_payment_event')
        .set({ waiting: 0 })
        .where('account', '=', account)
        .where('event_id', 'in', eventIds)
        .execute();
      return eventIds.length;
    });
  },
};

/** @returns what the payment held until now; undefined when the version is another */
async function updatePayment(
  { queries }: SqlDatabase,
  db: PaymentDb,
  record: PaymentRecord,
  expectedVersion: number,
): Promise<{ heldReference: string | null; heldKeyHash: string | null } | undefined> {
  const { account, conversation_id: id, ...changes } = rowOf(record);
  const values = [...Object.values(changes), account, id, expectedVersion, account, id, account, id];
  const { rows } = await queries.run(db, 'update payment', values, (one) =>
    one
      .updateTable('card_payment')
      .set(changes)
      .where('account', '=', account)
      .where('conversation_id', '=', id)
      .where('version', '=', expectedVersion)
      .returning((eb) => [
        eb
          .selectFrom('card_payment_reference_lock')
          .where('account', '=', account)
          .where('conversation_id', '=', id)
          .select('reference')
          .as('heldReference'),
        eb
          .selectFrom('card_payment_key')
          .where('account', '=', account)
          .where('conversation_id', '=', id)
          .select('key_hash')
          .as('heldKeyHash'),
      ]),
  );
  return rows[0];
}

/** Locks the reference for this payment, or undoes the transaction. */
async function lockReference(
  { engine, queries }: SqlDatabase,
  db: PaymentDb,
  { account, conversationId }: PaymentRecord,
  reference: string,
): Promise<void> {
  const values = [account, reference, conversationId];
  const { numAffectedRows } = await queries.run(db, 'lock reference', values, (one) =>
    one
      .insertInto('card_payment_reference_lock')
      .values({ account, reference, conversation_id: conversationId })
      .modifyEnd(sql.raw(engine.unlessTaken)),
  );
  if (numAffectedRows === 0n) throw new Undo('taken');
}

async function unlockReference(db: PaymentDb, account: string, reference: string): Promise<void> {
  await db
    .deleteFrom('card_payment_reference_lock')
    .where('account', '=', account)
    .where('reference', '=', reference)
    .execute();
}

/** Takes the idempotency key for this payment, or undoes the transaction. */
async function takeKey(
  { engine }: SqlDatabase,
  db: PaymentDb,
  { account, conversationId }: PaymentRecord,
  keyHash: string,
): Promise<void> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('card_payment_key')
    .values({ account, key_hash: keyHash, conversation_id: conversationId })
    .modifyEnd(sql.raw(engine.unlessTaken))
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows === 0n) throw new Undo('taken');
}

async function releaseKey(db: PaymentDb, account: string, keyHash: string): Promise<void> {
  await db.deleteFrom('card_payment_key').where('account', '=', account).where('key_hash', '=', keyHash).execute();
}

async function writeHistoryAndEvent(
  { queries }: SqlDatabase,
  db: PaymentDb,
  record: PaymentRecord,
  event?: PaymentEvent,
): Promise<void> {
  const { account, conversationId, version } = record;
  const entry = historyToJson(historyEntryOf(record));
  await queries.run(db, 'history', [account, conversationId, version, entry], (one) =>
    one.insertInto('card_payment_history').values({ account, conversation_id: conversationId, version, entry }),
  );
  if (!event) return;
  const row = {
    account,
    event_id: event.eventId,
    conversation_id: conversationId,
    version,
    type: event.type,
    occurred_at: event.occurredAt.getTime(),
    waiting: 1 as const,
    event: eventToJson(event),
  };
  await queries.run(db, 'event', Object.values(row), (one) => one.insertInto('card_payment_event').values(row));
}

/**
 * The events of the payments that have waited longest, of the types that somebody takes. Each type has a query of its
 * own.
 */
async function eventsToFanOut(db: PaymentDb, account: string, limit: number): Promise<string[]> {
  const handlers = db.selectFrom('card_payment_handler').where('account', '=', account);
  const types = (await handlers.select('type').distinct().execute()).map(({ type }) => type);
  const oldest: { conversation_id: string; occurred_at: number | string }[] = [];
  for (const type of types) {
    const waiting = waitingEvents(db, account).where('type', '=', type).orderBy('occurred_at').limit(limit);
    oldest.push(...(await waiting.select(['conversation_id', 'occurred_at']).execute()));
  }
  if (oldest.length === 0) return [];
  oldest.sort((one, other) => Number(one.occurred_at) - Number(other.occurred_at));
  const payments = [...new Set(oldest.map((row) => row.conversation_id))].slice(0, limit);
  const events = waitingEvents(db, account).where('type', 'in', types).where('conversation_id', 'in', payments);
  return (await events.select('event_id').execute()).map((row) => row.event_id);
}

function waitingEvents(db: PaymentDb, account: string) {
  return db.selectFrom('card_payment_event').where('account', '=', account).where('waiting', '=', sql.lit(1));
}

/** A delivery for each of the events and each handler of its type. */
async function insertDeliveries(
  database: SqlDatabase,
  db: PaymentDb,
  account: string,
  eventIds: readonly string[],
): Promise<void> {
  await db
    .insertInto('card_payment_delivery')
    .columns([
      'account',
      'handler_id',
      'event_id',
      'conversation_id',
      'version',
      'type',
      'occurred_at',
      'attempts',
      'parked',
      'due_at',
    ])
    .expression((insert) =>
      insert
        .selectFrom('card_payment_event as event')
        .innerJoin('card_payment_handler as handler', (join) =>
          join.onRef('handler.account', '=', 'event.account').onRef('handler.type', '=', 'event.type'),
        )
        .where('event.account', '=', account)
        .where('event.event_id', 'in', eventIds)
        .select((eb) => [
          'event.account',
          'handler.handler_id',
          'event.event_id',
          'event.conversation_id',
          'event.version',
          'event.type',
          'event.occurred_at',
          eb.lit(0).as('attempts'),
          eb.lit(0).as('parked'),
          database.fromNow().as('due_at'),
        ]),
    )
    .execute();
}
