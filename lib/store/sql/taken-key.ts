import { type CompiledQuery, sql } from 'kysely';
import type { PaymentRecord } from '../../payment/payment.js';
import type { UniqueKey } from '../payment-ledger.js';
import { hostIdHashOf, keyHashOf } from './key-hash.js';
import type { SqlDatabase } from './sql-database.js';

type Taken = Readonly<Record<UniqueKey, unknown>>;

/** Which keys of the record another payment has than the one of this id. */
export function takenKeys(database: SqlDatabase, record: PaymentRecord, ownId: string | null): CompiledQuery<Taken> {
  const { account, conversationId, idempotencyKey, tokenHash, referenceLock } = record;
  const own = ownId ?? '';
  const keyHash = keyHashOf(idempotencyKey ?? '');
  const idHash = hostIdHashOf(record) ?? '';
  const ofId = [account, conversationId, account, idHash];
  const values = [...ofId, account, keyHash, own, account, tokenHash, own, account, referenceLock, own];
  return database.query('taken keys', values, (db) =>
    db.selectNoFrom((eb) => {
      const payment = eb.selectFrom('card_payment').where('account', '=', account).select('version');
      const key = eb.selectFrom('card_payment_key').where('account', '=', account).select('key_hash');
      const lock = eb.selectFrom('card_payment_reference_lock').where('account', '=', account).select('reference');
      const isOthers = sql<boolean>`(conversation_id is null or conversation_id <> ${own})`;
      return [
        eb
          .or([
            eb.exists(payment.where('conversation_id', '=', conversationId)),
            eb.exists(key.where('key_hash', '=', idHash)),
          ])
          .as('conversationId'),
        eb.exists(key.where('key_hash', '=', keyHash).where(isOthers)).as('idempotencyKey'),
        eb.exists(payment.where('token_hash', '=', tokenHash).where(isOthers)).as('tokenHash'),
        eb.exists(lock.where('reference', '=', referenceLock).where(isOthers)).as('referenceLock'),
      ];
    }),
  );
}

/** The first of the {@link takenKeys}. */
export function firstTaken(
  taken: Taken | undefined,
  { idempotencyKey }: PaymentRecord,
  ownId: string | null,
): UniqueKey | null {
  if (!taken) return null;
  if (taken.conversationId && ownId === null) return 'conversationId';
  if (taken.idempotencyKey && idempotencyKey !== null) return 'idempotencyKey';
  return (['tokenHash', 'referenceLock'] as const).find((name) => taken[name]) ?? null;
}
