import { sql } from 'kysely';
import type { PaymentEvent } from '../../payment/payment-event.js';
import type { PaymentRecord } from '../../payment/payment.js';
import type { ReplaceOutcome, UniqueKey } from '../payment-store.js';
import { keyHashOf } from './key-hash.js';
import type { SqlDatabase } from './sql-database.js';
import type { SqlWrites } from './sql-writes.js';
import { writesInOneStatement } from './writes-in-one-statement.js';
import { writesInTransaction } from './writes-in-transaction.js';

const WRITES = { inTransaction: writesInTransaction, inOneStatement: writesInOneStatement };

/** A key that was taken may be free again when we look whose it is: then the write is tried again, so many times. */
const MAX_TRIES = 5;

export async function insertPayment(
  database: SqlDatabase,
  record: PaymentRecord,
  event?: PaymentEvent,
): Promise<UniqueKey | null> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    if ((await writesOf(database).insert(database, record, event)) === 'done') return null;
    const key = await takenKey(database, record, null);
    if (key) return key;
  }
  throw new Error('a key of the payment is taken and given up again and again');
}

export async function replacePayment(
  database: SqlDatabase,
  record: PaymentRecord,
  expectedVersion: number,
  event?: PaymentEvent,
): Promise<ReplaceOutcome> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const outcome = await writesOf(database).replace(database, record, expectedVersion, event);
    if (outcome !== 'taken') return outcome === 'done' ? 'replaced' : outcome;
    const key = await takenKey(database, record, record.conversationId);
    if (key === 'referenceLock') return 'locked';
    if (key) throw new Error(`another payment has this ${key}`);
  }
  throw new Error('a key of the payment is taken and given up again and again');
}

/** The first key of the record that another payment has than the one of this id. */
async function takenKey(
  database: SqlDatabase,
  { account, conversationId, idempotencyKey, tokenHash, referenceLock }: PaymentRecord,
  ownId: string | null,
): Promise<UniqueKey | null> {
  const { db } = database;
  const [taken] = await database.read(
    db.selectNoFrom((eb) => {
      const payment = eb.selectFrom('card_payment').where('account', '=', account).select('version');
      const key = eb.selectFrom('card_payment_key').where('account', '=', account).select('key_hash');
      const lock = eb.selectFrom('card_payment_reference_lock').where('account', '=', account).select('reference');
      const isOthers = sql<boolean>`(conversation_id is null or conversation_id <> ${ownId ?? ''})`;
      return [
        eb.exists(payment.where('conversation_id', '=', conversationId)).as('conversationId'),
        eb.exists(key.where('key_hash', '=', keyHashOf(idempotencyKey ?? '')).where(isOthers)).as('idempotencyKey'),
        eb.exists(payment.where('token_hash', '=', tokenHash).where(isOthers)).as('tokenHash'),
        eb.exists(lock.where('reference', '=', referenceLock).where(isOthers)).as('referenceLock'),
      ];
    }),
  );
  if (!taken) return null;
  if (taken.conversationId && ownId === null) return 'conversationId';
  if (taken.idempotencyKey && idempotencyKey !== null) return 'idempotencyKey';
  return (['tokenHash', 'referenceLock'] as const).find((name) => taken[name]) ?? null;
}

export function writesOf({ engine }: SqlDatabase): SqlWrites {
  return WRITES[engine.writes];
}
