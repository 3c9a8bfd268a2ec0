import { sql } from 'kysely';
import type { PaymentEvent } from '../../payment/payment-event.js';
import type { PaymentRecord } from '../../payment/payment.js';
import type { ReplaceOutcome, UniqueKey } from '../payment-store.js';
import { historyEntryOf, historyToJson } from '../record-json.js';
import { writeEvent } from './outbox.js';
import { findPayment } from './payment-queries.js';
import { type PaymentDb, rowOf } from './payment-tables.js';
import { type SqlDatabase, Undo } from './sql-database.js';

export async function insertPayment(
  database: SqlDatabase,
  record: PaymentRecord,
  event?: PaymentEvent,
): Promise<UniqueKey | null> {
  // The key may have been released before we looked for its holder: then nothing is in the way any more.
  for (;;) {
    const outcome = await tryInsert(database, record, event);
    if (outcome !== 'taken') return outcome;
    const key = await takenKey(database, record);
    if (key) return key;
  }
}

function tryInsert(
  database: SqlDatabase,
  record: PaymentRecord,
  event?: PaymentEvent,
): Promise<'taken' | 'referenceLock' | null> {
  return database.transaction(async (db) => {
    const { numInsertedOrUpdatedRows } = await db
      .insertInto('card_payment')
      .values(rowOf(record))
      .modifyEnd(sql.raw(database.engine.unlessTaken))
      .executeTakeFirstOrThrow();
    if (numInsertedOrUpdatedRows === 0n) return 'taken';
    if (record.referenceLock !== null) await lockReference(database, db, record, record.referenceLock, 'referenceLock');
    await writeHistoryAndEvent(database, db, record, event);
    return null;
  });
}

async function takenKey(
  database: SqlDatabase,
  { account, conversationId, idempotencyKey, tokenHash }: PaymentRecord,
): Promise<UniqueKey | null> {
  if (await findPayment(database, account, 'conversation_id', conversationId)) return 'conversationId';
  if (idempotencyKey !== null && (await findPayment(database, account, 'idempotency_key', idempotencyKey)))
    return 'idempotencyKey';
  if (tokenHash !== null && (await findPayment(database, account, 'token_hash', tokenHash))) return 'tokenHash';
  return null;
}

export function replacePayment(
  database: SqlDatabase,
  record: PaymentRecord,
  expectedVersion: number,
  event?: PaymentEvent,
): Promise<ReplaceOutcome> {
  const { account, referenceLock } = record;
  const { engine, queries } = database;
  return database.transaction<ReplaceOutcome>(async (db) => {
    const updated = await engine.updatePayment(db, queries, rowOf(record), expectedVersion);
    if (!updated) return 'stale';
    const { heldReference } = updated;
    if (heldReference !== null && heldReference !== referenceLock) await unlockReference(db, account, heldReference);
    if (referenceLock !== null && heldReference !== referenceLock)
      await lockReference(database, db, record, referenceLock, 'locked');
    await writeHistoryAndEvent(database, db, record, event);
    return 'replaced';
  });
}

/** Locks the reference for this payment, or undoes the transaction. */
async function lockReference(
  { engine, queries }: SqlDatabase,
  db: PaymentDb,
  { account, conversationId }: PaymentRecord,
  reference: string,
  otherwise: UniqueKey | ReplaceOutcome,
): Promise<void> {
  const values = [account, reference, conversationId];
  const { numAffectedRows } = await queries.run(db, 'lock reference', values, (one) =>
    one
      .insertInto('card_payment_reference_lock')
      .values({ account, reference, conversation_id: conversationId })
      .modifyEnd(sql.raw(engine.unlessTaken)),
  );
  if (numAffectedRows === 0n) throw new Undo(otherwise);
}

async function unlockReference(db: PaymentDb, account: string, reference: string): Promise<void> {
  await db
    .deleteFrom('card_payment_reference_lock')
    .where('account', '=', account)
    .where('reference', '=', reference)
    .execute();
}

async function writeHistoryAndEvent(
  { engine, queries }: SqlDatabase,
  db: PaymentDb,
  record: PaymentRecord,
  event?: PaymentEvent,
): Promise<void> {
  const { account, conversationId, version } = record;
  const entry = historyToJson(historyEntryOf(record));
  await queries.run(db, 'history', [account, conversationId, version, entry], (one) =>
    one.insertInto('card_payment_history').values({ account, conversation_id: conversationId, version, entry }),
  );
  if (event) await writeEvent(db, engine, event);
}
