import { sql } from 'kysely';
import type { PaymentEvent } from '../../payment/payment-event.js';
import type { PaymentRecord } from '../../payment/payment.js';
import { pinnedReferenceOf } from '../../payment/transitions.js';
import type { ReplaceOutcome, UniqueKey } from '../payment-ledger.js';
import { eventToJson, historyEntryOf, historyToJson } from '../record-json.js';
import { hostIdHashOf, keyHashOf } from './key-hash.js';
import { type PaymentDb, rowOf } from './payment-tables.js';
import { deleteDelivery, deliveryOf, unblockLater, withEvents } from './deliveries.js';
import { dueDeliveries, LOOK_AHEAD } from './due-deliveries.js';
import { compiled, type SqlDatabase } from './sql-database.js';
import type { SqlWrites } from './sql-writes.js';
import { ask, type Steps } from './steps.js';
import { firstTaken, takenKeys } from './taken-key.js';
import { Undo } from './undo.js';

/** A transaction of several statements, in SQL that most databases know. `update … returning` is needed. */
export const writesInTransaction: SqlWrites = {
  insert(database, record, event) {
    return database.write<UniqueKey | null>(function* () {
      const row = rowOf(record);
      const insert = database.query('insert payment', Object.values(row), (db) =>
        db.insertInto('card_payment').values(row).modifyEnd(sql.raw(database.engine.unlessTaken)),
      );
      if ((yield* ask(insert)).numAffectedRows === 0n) return yield* takenKey(database, record);
      const [idHash, keyHash] = [hostIdHashOf(record), keyHashIn(record)];
      if (idHash !== null && !(yield* takeKey(database, record.account, idHash, null)))
        throw new Undo('conversationId');
      if (keyHash !== null && !(yield* takeOwnKey(database, record, keyHash))) throw new Undo('idempotencyKey');
      if (!(yield* lockReference(database, record))) throw new Undo('referenceLock');
      yield* writeHistoryAndEvent(database, record, event);
      return null;
    });
  },

  async replace(database, record, expectedVersion, event) {
    const { referenceLock } = record;
    const keyHash = keyHashIn(record);
    const outcome = await database.write<ReplaceOutcome | 'idempotencyKey'>(function* () {
      const held = yield* updatePayment(database, record, expectedVersion);
      if (!held) return 'stale';
      const { heldReference, heldKeyHash } = held;
      if (heldKeyHash !== keyHash) {
        if (heldKeyHash !== null) yield* releaseKey(database, record, heldKeyHash);
        if (keyHash !== null && !(yield* takeOwnKey(database, record, keyHash))) throw new Undo('idempotencyKey');
      }
      if (heldReference !== referenceLock) {
        if (heldReference !== null) yield* unlockReference(database, record, heldReference);
        if (!(yield* lockReference(database, record))) throw new Undo('locked');
      }
      const pinned = pinnedReferenceOf(record);
      if (pinned !== null) yield* takeReferenceFromAll(database, record.account, pinned);
      yield* writeHistoryAndEvent(database, record, event);
      return 'replaced';
    });
    if (outcome === 'idempotencyKey') throw new Error('another payment has this idempotencyKey');
    return outcome;
  },

  fanOut(database, account, limit) {
    return database.write(function* () {
      const { db, engine } = database;
      if (engine.fanOutLock) yield* ask(compiled(engine.fanOutLock(account)));
      const eventIds = yield* eventsToFanOut(db, account, limit);
      if (eventIds.length === 0) return 0;
      yield* ask(insertDeliveries(database, account, eventIds).compile());
      const fannedOut = db.updateTable('card_payment_event').set({ waiting: 0 }).where('account', '=', account);
      yield* ask(fannedOut.where('event_id', 'in', eventIds).compile());
      return eventIds.length;
    });
  },

  leaseSome(database, request) {
    const { account, handlerId, lease, limit } = request;
    return database.write(function* () {
      const { db } = database;
      const due = (yield* ask(dueDeliveries(database, request).compile())).rows;
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
          .compile();
      const isFull = due.length === LOOK_AHEAD * limit;
      const waiting = due.filter((row) => isFull && row.attempts === 0 && Number(row.blocked_until) > Number(row.now));
      for (const row of waiting) yield* ask(put([row.event_id], { due_at: Number(row.blocked_until) }));
      const isDone = waiting.length === 0;
      if (leasedIds.length === 0) return { leased: [], isDone };
      yield* ask(put(leasedIds, { lease, due_at: Number(due[0]?.until) }));
      const leased = withEvents(db, account)
        .where('delivery.handler_id', '=', handlerId)
        .where('delivery.event_id', 'in', leasedIds);
      const rows = [...(yield* ask(leased.compile())).rows];
      rows.sort((one, other) => leasedIds.indexOf(one.event_id) - leasedIds.indexOf(other.event_id));
      return { leased: rows.map(deliveryOf), isDone };
    });
  },

  acknowledge(database, delivery) {
    return database.write(function* () {
      yield* ask(deleteDelivery(database, delivery).compile());
      yield* ask(unblockLater(database, delivery).compile());
    });
  },
};

/** @returns what the payment held until now; undefined when the version is another */
function* updatePayment(
  database: SqlDatabase,
  record: PaymentRecord,
  expectedVersion: number,
): Steps<{ heldReference: string | null; heldKeyHash: string | null } | undefined> {
  const { account, conversation_id: id, ...changes } = rowOf(record);
  const values = [...Object.values(changes), account, id, expectedVersion, account, id, account, id];
  const update = database.query('update payment', values, (db) =>
    db
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
  return (yield* ask(update)).rows[0];
}

/** The first key of a record that could not be inserted. */
function* takenKey(database: SqlDatabase, record: PaymentRecord): Steps<UniqueKey> {
  const [taken] = (yield* ask(takenKeys(database, record, null))).rows;
  const key = firstTaken(taken, record, null);
  if (!key) throw new Error('a payment was not inserted, although its keys are free');
  return key;
}

/** @returns false when another payment has locked its reference */
function* lockReference(
  database: SqlDatabase,
  { account, conversationId, referenceLock: reference }: PaymentRecord,
): Steps<boolean> {
  if (reference === null) return true;
  const row = { account, reference, conversation_id: conversationId };
  const insert = database.query('lock reference', Object.values(row), (db) =>
    db.insertInto('card_payment_reference_lock').values(row).modifyEnd(sql.raw(database.engine.unlessTaken)),
  );
  return (yield* ask(insert)).numAffectedRows !== 0n;
}

function* unlockReference(
  database: SqlDatabase,
  { account, conversationId }: PaymentRecord,
  reference: string,
): Steps<void> {
  const remove = database.query('unlock reference', [account, reference, conversationId], (db) =>
    db
      .deleteFrom('card_payment_reference_lock')
      .where('account', '=', account)
      .where('reference', '=', reference)
      // Another payment may have pinned it since we looked.
      .where('conversation_id', '=', conversationId),
  );
  yield* ask(remove);
}

/** Leaves the lock of a reference without an owner, whoever has it now. */
function* takeReferenceFromAll(database: SqlDatabase, account: string, reference: string): Steps<void> {
  const pin = database.query('pin reference', [account, reference, null, null], (db) =>
    db
      .insertInto('card_payment_reference_lock')
      .values({ account, reference, conversation_id: null })
      .onConflict((conflict) => conflict.columns(['account', 'reference']).doUpdateSet({ conversation_id: null })),
  );
  yield* ask(pin);
}

function keyHashIn({ idempotencyKey }: PaymentRecord): string | null {
  return idempotencyKey === null ? null : keyHashOf(idempotencyKey);
}

/** @returns false when another payment has the idempotency key */
function takeOwnKey(
  database: SqlDatabase,
  { account, conversationId }: PaymentRecord,
  keyHash: string,
): Steps<boolean> {
  return takeKey(database, account, keyHash, conversationId);
}

/** @returns false when it is taken */
function* takeKey(
  database: SqlDatabase,
  account: string,
  keyHash: string,
  conversationId: string | null,
): Steps<boolean> {
  const row = { account, key_hash: keyHash, conversation_id: conversationId };
  const insert = database.query('take key', Object.values(row), (db) =>
    db.insertInto('card_payment_key').values(row).modifyEnd(sql.raw(database.engine.unlessTaken)),
  );
  return (yield* ask(insert)).numAffectedRows !== 0n;
}

function* releaseKey(database: SqlDatabase, { account }: PaymentRecord, keyHash: string): Steps<void> {
  const remove = database.query('release key', [account, keyHash], (db) =>
    db.deleteFrom('card_payment_key').where('account', '=', account).where('key_hash', '=', keyHash),
  );
  yield* ask(remove);
}

function* writeHistoryAndEvent(database: SqlDatabase, record: PaymentRecord, event?: PaymentEvent): Steps<void> {
  const { account, conversationId, version } = record;
  const line = { account, conversation_id: conversationId, version, entry: historyToJson(historyEntryOf(record)) };
  yield* ask(
    database.query('history', Object.values(line), (db) => db.insertInto('card_payment_history').values(line)),
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
  yield* ask(database.query('event', Object.values(row), (db) => db.insertInto('card_payment_event').values(row)));
}

/**
 * The events of the payments that have waited longest, of the types that somebody takes. Each type has a query of its
 * own.
 */
function* eventsToFanOut(db: PaymentDb, account: string, limit: number): Steps<string[]> {
  const known = db.selectFrom('card_payment_handler').where('account', '=', account).select('type').distinct();
  const types = (yield* ask(known.compile())).rows.map(({ type }) => type);
  const oldest: { conversation_id: string; occurred_at: number | string }[] = [];
  for (const type of types) {
    const waiting = waitingEvents(db, account).where('type', '=', type).orderBy('occurred_at').limit(limit);
    oldest.push(...(yield* ask(waiting.select(['conversation_id', 'occurred_at']).compile())).rows);
  }
  if (oldest.length === 0) return [];
  oldest.sort((one, other) => Number(one.occurred_at) - Number(other.occurred_at));
  const payments = [...new Set(oldest.map((row) => row.conversation_id))].slice(0, limit);
  const events = waitingEvents(db, account).where('type', 'in', types).where('conversation_id', 'in', payments);
  return (yield* ask(events.select('event_id').compile())).rows.map((row) => row.event_id);
}

function waitingEvents(db: PaymentDb, account: string) {
  return db.selectFrom('card_payment_event').where('account', '=', account).where('waiting', '=', sql.lit(1));
}

/** A delivery for each of the events and each handler of its type. */
function insertDeliveries(database: SqlDatabase, account: string, eventIds: readonly string[]) {
  return database.db
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
    );
}
