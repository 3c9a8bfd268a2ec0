import { ledgerWritesBy } from '../../../../lib/store/sql/ledger-writes.js';
import { rowOf } from '../../../../lib/store/sql/payment-tables.js';
import { ask } from '../../../../lib/store/sql/sql-transaction.js';

/** Updates the payment and reads what it has taken: two statements, for a database without `update … returning`. */
export const ledgerWrites = ledgerWritesBy(function* ({ db }, record, expectedVersion) {
  const { account, conversation_id: id, ...changes } = rowOf(record);
  const update = db
    .updateTable('card_payment')
    .set(changes)
    .where('account', '=', account)
    .where('conversation_id', '=', id)
    .where('version', '=', expectedVersion);
  if ((yield* ask(update.compile())).numAffectedRows === 0n) return undefined;
  const [lock] = (yield* ask(
    db
      .selectFrom('card_payment_reference_lock')
      .where('account', '=', account)
      .where('conversation_id', '=', id)
      .select('reference')
      .compile(),
  )).rows;
  const [key] = (yield* ask(
    db
      .selectFrom('card_payment_key')
      .where('account', '=', account)
      .where('conversation_id', '=', id)
      .select('key_hash')
      .compile(),
  )).rows;
  return { heldReference: lock?.reference ?? null, heldKeyHash: key?.key_hash ?? null };
});
