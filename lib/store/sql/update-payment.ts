import type { CompiledQueries } from './compiled-queries.js';
import type { PaymentDb, PaymentRow } from './payment-tables.js';

/**
 * Writes a row over that of the same payment, if the version is still the expected one.
 * @returns the reference that the payment held until now; null when the version is another
 */
export type UpdatePayment = (
  db: PaymentDb,
  queries: CompiledQueries,
  row: PaymentRow,
  expectedVersion: number,
) => Promise<{ readonly heldReference: string | null } | null>;

/** In one statement, for databases that have `update … returning`. */
export const updateReturning: UpdatePayment = async (db, queries, row, expectedVersion) => {
  const { account, conversation_id: id, ...changes } = row;
  const values = [...Object.values(changes), account, id, expectedVersion, account, id];
  const { rows } = await queries.run(db, 'update payment', values, (one) =>
    one
      .updateTable('card_payment')
      .set(changes)
      .where('account', '=', account)
      .where('conversation_id', '=', id)
      .where('version', '=', expectedVersion)
      .returning((eb) =>
        eb
          .selectFrom('card_payment_reference_lock')
          .where('account', '=', account)
          .where('conversation_id', '=', id)
          .select('reference')
          .as('heldReference'),
      ),
  );
  return rows[0] ?? null;
};
