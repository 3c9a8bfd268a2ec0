import type { LedgerEvent } from '../../payment/ledger-event.js';
import type { PaymentRecord } from '../../payment/payment.js';
import { pinnedReferenceOf } from '../../payment/transitions.js';
import type { ReplaceOutcome, UniqueKey } from '../payment-store.js';
import { eventRowOf, historyRowOf, hostIdHashOf, keyHashOf, rowOf } from './payment-tables.js';
import type { SqlDatabase } from './sql-database.js';
import type { LedgerWrites } from './sql-engine.js';
import { firstTaken, takenKeys } from './sql-ledger.js';
import { ask, type Steps, Undo } from './sql-transaction.js';

/** What a payment has taken: the reference whose lock it holds, and the hash of its idempotency key. */
interface Held {
  readonly heldReference: string | null;
  readonly heldKeyHash: string | null;
}

/**
 * Updates the row of a payment if its version is the expected one, and returns what the payment has taken until now.
 */
export type UpdatePayment = (
  database: SqlDatabase,
  record: PaymentRecord,
  expectedVersion: number,
) => Steps<Held | undefined>;

/**
 * Writes each transition in a transaction of several statements, in SQL that most databases know. The row of the
 * payment is always written first, so that writers of one payment wait for each other there.
 */
export const ledgerWritesBy = (updatePayment: UpdatePayment): LedgerWrites => ({
  insert(database, record, event) {
    return database.write<UniqueKey | null>(function* () {
      const row = rowOf(record);
      const insert = database.query('insert payment', Object.values(row), (db) =>
        db.insertInto('card_payment').values(row).modifyEnd(database.unlessTaken),
      );
      if ((yield* ask(insert)).numAffectedRows === 0n) return yield* takenKey(database, record);
      const [idHash, keyHash] = [hostIdHashOf(record), keyHashIn(record)];
      if (idHash !== null && !(yield* takeKey(database, record.account, idHash, null)))
        throw new Undo('conversationId');
      if (keyHash !== null && !(yield* takeKey(database, record.account, keyHash, record.conversationId)))
        throw new Undo('idempotencyKey');
      if (!(yield* lockReference(database, record))) throw new Undo('referenceLock');
      yield* writeHistoryAndEvent(database, record, event);
      return null;
    });
  },

  async replace(database, record, { version: expectedVersion }, event) {
    const { referenceLock } = record;
    const keyHash = keyHashIn(record);
    const outcome = await database.write<ReplaceOutcome | 'idempotencyKey'>(function* () {
      const held = yield* updatePayment(database, record, expectedVersion);
      if (!held) return 'stale';
      const { heldReference, heldKeyHash } = held;
      if (heldKeyHash !== keyHash) {
        if (heldKeyHash !== null) yield* releaseKey(database, record, heldKeyHash);
        if (keyHash !== null && !(yield* takeKey(database, record.account, keyHash, record.conversationId)))
          throw new Undo('idempotencyKey');
      }
      if (heldReference !== referenceLock) {
        if (heldReference !== null) yield* unlockReference(database, record, heldReference);
        if (!(yield* lockReference(database, record))) throw new Undo('locked');
      }
      const pinned = pinnedReferenceOf(record);
      if (pinned !== null) yield* pinReference(database, record.account, pinned);
      yield* writeHistoryAndEvent(database, record, event);
      return 'replaced';
    });
    if (outcome === 'idempotencyKey') throw new Error('another payment has this idempotencyKey');
    return outcome;
  },
});

/** Uses a single statement, `update … returning`. */
const updateReturning: UpdatePayment = function* (database, record, expectedVersion) {
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
};

/** For databases that have `update … returning`. */
export const ledgerWrites = ledgerWritesBy(updateReturning);

/** The key because of which a record could not be inserted. */
function* takenKey(database: SqlDatabase, record: PaymentRecord): Steps<UniqueKey> {
  const [taken] = (yield* ask(takenKeys(database, record, null))).rows;
  const key = firstTaken(taken, record, null);
  if (!key) throw new Error('a payment was not inserted, although its keys are free');
  return key;
}

/** @returns false when another payment holds the lock of its reference */
function* lockReference(
  database: SqlDatabase,
  { account, conversationId, referenceLock: reference }: PaymentRecord,
): Steps<boolean> {
  if (reference === null) return true;
  const row = { account, reference, conversation_id: conversationId };
  const insert = database.query('lock reference', Object.values(row), (db) =>
    db.insertInto('card_payment_reference_lock').values(row).modifyEnd(database.unlessTaken),
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
      // Another payment may have pinned it since the update read who held it.
      .where('conversation_id', '=', conversationId),
  );
  yield* ask(remove);
}

/** Gives a reference a lock without an owner, even if a payment holds its lock now. */
function* pinReference(database: SqlDatabase, account: string, reference: string): Steps<void> {
  const row = { account, reference, conversation_id: null };
  const pin = database.query('pin reference', Object.values(row), (db) =>
    db
      .insertInto('card_payment_reference_lock')
      .values(row)
      .modifyEnd(database.orOverwrite(['account', 'reference'], 'conversation_id')),
  );
  yield* ask(pin);
}

function keyHashIn({ idempotencyKey }: PaymentRecord): string | null {
  return idempotencyKey === null ? null : keyHashOf(idempotencyKey);
}

/** @returns false when another payment has the key */
function* takeKey(
  database: SqlDatabase,
  account: string,
  keyHash: string,
  conversationId: string | null,
): Steps<boolean> {
  const row = { account, key_hash: keyHash, conversation_id: conversationId };
  const insert = database.query('take key', Object.values(row), (db) =>
    db.insertInto('card_payment_key').values(row).modifyEnd(database.unlessTaken),
  );
  return (yield* ask(insert)).numAffectedRows !== 0n;
}

function* releaseKey(database: SqlDatabase, { account }: PaymentRecord, keyHash: string): Steps<void> {
  const remove = database.query('release key', [account, keyHash], (db) =>
    db.deleteFrom('card_payment_key').where('account', '=', account).where('key_hash', '=', keyHash),
  );
  yield* ask(remove);
}

function* writeHistoryAndEvent(database: SqlDatabase, record: PaymentRecord, event?: LedgerEvent): Steps<void> {
  const line = historyRowOf(record);
  yield* ask(
    database.query('history', Object.values(line), (db) => db.insertInto('card_payment_history').values(line)),
  );
  if (!event) return;
  const row = eventRowOf(record, event);
  yield* ask(database.query('event', Object.values(row), (db) => db.insertInto('card_payment_event').values(row)));
}
