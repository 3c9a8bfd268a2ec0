import { sql } from 'kysely';
import type { DeliveryLeaseRequest } from '../payment-store.js';
import {
  deleteDelivery,
  deliveryOf,
  dueDeliveries,
  type DueRow,
  LOOK_AHEAD,
  unblockLater,
  withEvents,
} from './deliveries.js';
import type { PaymentDb } from './payment-tables.js';
import { compiled, type SqlDatabase } from './sql-database.js';
import type { OutboxWrites } from './sql-engine.js';
import { ask, type Steps } from './sql-transaction.js';

/** Finds and locks the deliveries that are due; see {@link dueDeliveries}. */
export type LockDue = (database: SqlDatabase, request: DeliveryLeaseRequest) => Steps<DueRow[]>;

/** Writes deliveries in a transaction of several statements, in SQL that most databases know. */
export const outboxWritesBy = (lockDue: LockDue): OutboxWrites => ({
  fanOut(database, account, limit) {
    return database.write(function* () {
      const { db } = database;
      const { fanOutLock } = database.syntax;
      if (fanOutLock) yield* ask(compiled(fanOutLock(account)));
      const eventIds = yield* eventsToFanOut(database, account, limit);
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
      const due = yield* lockDue(database, request);
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
      const waiting = due.filter(
        (row) => isFull && Number(row.attempts) === 0 && Number(row.blocked_until) > Number(row.now),
      );
      let isDone = true;
      for (const row of waiting) {
        if (!(yield* lockEarlier(database, request, row))) continue;
        yield* ask(put([row.event_id], { due_at: Number(row.blocked_until) }));
        isDone = false;
      }
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
});

/** For databases that read a subquery without a reference to the outer query once. */
export const outboxWrites = outboxWritesBy(function* (database, request) {
  return (yield* ask(dueDeliveries(database, request).compile())).rows;
});

/**
 * Locks the deliveries that one waits for, so that a process that removes one of them waits, and then makes due what is
 * postponed here.
 * @returns false when there are none any more
 */
function* lockEarlier(
  database: SqlDatabase,
  { account, handlerId }: DeliveryLeaseRequest,
  { conversation_id: conversationId, version }: { readonly conversation_id: string; readonly version: number },
): Steps<boolean> {
  // No other process writes at the same time.
  if (database.syntax.fanOutLock === null) return true;
  const earlier = database.db
    .selectFrom('card_payment_delivery')
    .where('account', '=', account)
    .where('conversation_id', '=', conversationId)
    .where('handler_id', '=', handlerId)
    .where('version', '<', version)
    .where('parked', '=', sql.lit(0))
    .select('event_id')
    .modifyEnd(database.rowLock('card_payment_delivery'));
  return (yield* ask(earlier.compile())).rows.length > 0;
}

/**
 * The events of the payments whose events have waited longest, of the types that a known handler takes. Queries each
 * type separately, so that each query reads the index in its order.
 */
function* eventsToFanOut(database: SqlDatabase, account: string, limit: number): Steps<string[]> {
  const { db } = database;
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
  const all = events.select(['event_id', 'conversation_id']);
  const { rows } = yield* ask(all.modifyEnd(database.rowLock('card_payment_event')).compile());
  if (database.syntax.fanOutLock === null) return rows.map((row) => row.event_id);
  // A payment's events are fanned out together: not while a purge has locked some of them.
  const locked = new Set(rows.map((row) => row.event_id));
  const skipped = (yield* ask(all.compile())).rows.filter((row) => !locked.has(row.event_id));
  const busy = new Set(skipped.map((row) => row.conversation_id));
  return rows.filter((row) => !busy.has(row.conversation_id)).map((row) => row.event_id);
}

function waitingEvents(db: PaymentDb, account: string) {
  return db.selectFrom('card_payment_event').where('account', '=', account).where('waiting', '=', sql.lit(1));
}

/** Adds a delivery for each of the events and each handler of its type. */
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
