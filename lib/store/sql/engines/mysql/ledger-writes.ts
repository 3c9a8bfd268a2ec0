import { CompiledQuery } from 'kysely';
import type { LedgerEvent } from '../../../../payment/ledger-event.js';
import type { PaymentRecord } from '../../../../payment/payment.js';
import { pinnedReferenceOf } from '../../../../payment/transitions.js';
import { codeOf } from '../../driver-errors.js';
import { eventRowOf, historyRowOf, hostIdHashOf, keyHashOf, rowOf } from '../../payment-tables.js';
import type { SqlDatabase } from '../../sql-database.js';
import type { SqlStatement } from '../../sql-transaction.js';
import { ledgerWritesBy } from '../../tried-writes.js';

/**
 * Writes each transition in a transaction whose statements are the same whether they go to the server together, in one
 * round trip, or one by one, over a connection that does not take several at once. A unique key that is taken ends it:
 * how many rows an insert counts depends on a flag of the connection.
 */
export const ledgerWrites = ledgerWritesBy({
  insert: (database, record, event) => written(database, insertOf(record, event)),
  replace: (database, record, previous, event) => written(database, replaceOf(record, previous, event)),
});

function insertOf(record: PaymentRecord, event?: LedgerEvent): SqlStatement[] {
  const { account, conversationId, referenceLock: reference, idempotencyKey } = record;
  const idHash = hostIdHashOf(record);
  const keyOf = (key_hash: string, conversation_id: string | null) =>
    insertInto('card_payment_key', { account, key_hash, conversation_id });
  return [
    insertInto('card_payment', rowOf(record)),
    ...(idHash === null ? [] : [keyOf(idHash, null)]),
    ...(idempotencyKey === null ? [] : [keyOf(keyHashOf(idempotencyKey), conversationId)]),
    ...(reference === null
      ? []
      : [insertInto('card_payment_reference_lock', { account, reference, conversation_id: conversationId })]),
    ...historyAndEvent(record, event).map(({ table, row }) => insertInto(table, row)),
  ];
}

/** Set to the count of rows that the update of the payment found: the statements after it do nothing where it is 0. */
const WRITTEN = '@card_payment_written';

function replaceOf(
  record: PaymentRecord,
  { version: expectedVersion }: PaymentRecord,
  event?: LedgerEvent,
): SqlStatement[] {
  const { account, conversation_id: id, ...changes } = rowOf(record);
  const { referenceLock: reference, idempotencyKey } = record;
  const keyHash = idempotencyKey === null ? null : keyHashOf(idempotencyKey);
  const pinned = pinnedReferenceOf(record);
  const held = [account, id];
  return [
    {
      sql: `update card_payment set ${Object.keys(changes)
        .map((column) => `${column} = ?`)
        .join(', ')}
where account = ? and conversation_id = ? and version = ?`,
      parameters: [...Object.values(changes), account, id, expectedVersion],
    },
    { sql: `set ${WRITTEN} = row_count()` },
    {
      sql: `${deleteOfHolder('card_payment_key')} and not (key_hash <=> ?) and ${WRITTEN} = 1`,
      parameters: [...held, keyHash],
    },
    ...(keyHash === null
      ? []
      : [
          insertIfWritten(
            'card_payment_key',
            { account, key_hash: keyHash, conversation_id: id },
            {
              sql: `not exists (
  select 1 from card_payment_key as held where held.account = ? and held.key_hash = ? and held.conversation_id = ?
)`,
              parameters: [account, keyHash, id],
            },
          ),
        ]),
    {
      sql: `${deleteOfHolder('card_payment_reference_lock')}
  and not (reference <=> ?) and not (reference <=> ?) and ${WRITTEN} = 1`,
      parameters: [...held, reference, pinned],
    },
    ...(pinned === null ? [] : [pin(account, pinned)]),
    ...(reference === null
      ? []
      : [
          insertIfWritten(
            'card_payment_reference_lock',
            { account, reference, conversation_id: id },
            {
              sql: `not exists (
  select 1 from card_payment_reference_lock as held
  where held.account = ? and held.reference = ? and held.conversation_id = ?
)`,
              parameters: [account, reference, id],
            },
          ),
        ]),
    ...historyAndEvent(record, event).map(({ table, row }) => insertIfWritten(table, row)),
  ];
}

/**
 * Deletes what a payment holds. In a table of few rows the server would look at all of the account by the primary key,
 * and wait for the transactions of other payments that have locked theirs.
 */
function deleteOfHolder(table: 'card_payment_key' | 'card_payment_reference_lock'): string {
  return `delete held from ${table} as held force index (${table}_holder)
where account = ? and conversation_id = ?`;
}

/** Gives a reference a lock without an owner, even if a payment holds its lock now. */
function pin(account: string, reference: string): SqlStatement {
  const { sql, parameters } = insertIfWritten('card_payment_reference_lock', {
    account,
    reference,
    conversation_id: null,
  });
  return { sql: `${sql} on duplicate key update conversation_id = null`, parameters: parameters ?? [] };
}

function historyAndEvent(record: PaymentRecord, event?: LedgerEvent): { table: string; row: Row }[] {
  const history = { table: 'card_payment_history', row: historyRowOf(record) };
  return event ? [history, { table: 'card_payment_event', row: eventRowOf(record, event) }] : [history];
}

type Row = Readonly<Record<string, unknown>>;

function insertInto(table: string, row: Row): SqlStatement {
  const marks = Object.keys(row).map(() => '?');
  return {
    sql: `insert into ${table} (${Object.keys(row).join(', ')}) values (${marks.join(', ')})`,
    parameters: Object.values(row),
  };
}

function insertIfWritten(table: string, row: Row, condition: SqlStatement = { sql: 'true' }): SqlStatement {
  const marks = Object.keys(row).map(() => '?');
  return {
    sql: `insert into ${table} (${Object.keys(row).join(', ')}) select ${marks.join(', ')} from dual
where ${WRITTEN} = 1 and ${condition.sql}`,
    parameters: [...Object.values(row), ...(condition.parameters ?? [])],
  };
}

/** @returns how many rows the first statement wrote; null when a unique key was taken, and nothing was written */
async function written(database: SqlDatabase, statements: readonly SqlStatement[]): Promise<number | null> {
  try {
    if (database.takesScripts) {
      const [first] = (await database.script(statements)) as readonly { readonly affectedRows: number }[];
      return first?.affectedRows ?? 0;
    }
    const [first, ...others] = statements.map(({ sql, parameters = [] }) => CompiledQuery.raw(sql, [...parameters]));
    return await database.transaction(async (db) => {
      const { numAffectedRows } = await db.executeQuery(first!);
      if (numAffectedRows === 0n) return 0;
      for (const statement of others) await db.executeQuery(statement);
      return 1;
    });
  } catch (error) {
    if (codeOf(error) === 'ER_DUP_ENTRY') return null;
    throw error;
  }
}
