import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { mysqlPaymentStore } from 'nestjs-card-payment/sql';
import { SHARES, SPREAD_MS } from './sample-payments.js';
import { FILLED_TABLES, type WrittenPayment, writtenPayments } from './written-payments.js';

/** What is a payment's own in a written text, and how it is made of its number. */
const OWN = {
  id: `upper(substr(md5(seq), 1, 20))`,
  reference: `concat('order-', seq)`,
  token: `sha2(seq, 256)`,
  attempt: `substr(md5(concat('attempt ', seq)), 1, 22)`,
  key: `concat('checkout-', seq)`,
} as const;

/** The most payments that one statement adds. */
const BATCH = 50_000;

/**
 * Fills empty payment tables with settled payments as the store writes them: one of each kind is made by the package
 * itself, and what it wrote is varied by the server. Events were fanned out and delivered, but for those of expired
 * payments, for which no handler was ever announced.
 */
export async function fill(url: string, stored: number): Promise<void> {
  const connection = await createConnection({ uri: url, charset: 'utf8mb4_bin' });
  const written = await writtenPayments(url, {
    open: () => mysqlPaymentStore({ connectionString: url }),
    rowsOf: async (table, conversationId) =>
      (
        await connection.query<RowDataPacket[]>(`select * from ${table} where conversation_id = ?`, [conversationId])
      )[0],
  });
  // Nothing has to survive a crash, and every key is known to be unique.
  await connection.query(`set unique_checks = 0, time_zone = '+00:00', sql_log_bin = 0`);
  for (const table of FILLED_TABLES) await connection.query(`truncate ${table}`);
  for (let first = 1; first <= stored; first += BATCH) {
    await insertBatch(connection, written, stored, first, Math.min(first + BATCH - 1, stored));
  }
  await connection.query(`analyze table ${FILLED_TABLES.join(', ')}`);
  await connection.end();
}

async function insertBatch(
  connection: Connection,
  written: Readonly<Record<(typeof SHARES)[number][0], WrittenPayment>>,
  stored: number,
  first: number,
  last: number,
): Promise<void> {
  // The last payment was made ten minutes ago.
  const at = `(${Date.now() - 600_000 - SPREAD_MS} + floor(seq * ${SPREAD_MS / stored}))`;
  const iso = `date_format(from_unixtime(${at} / 1000.0), '%Y-%m-%dT%H:%i:%s.')`;
  const own = { ...OWN, iso: `concat(${iso}, lpad(${at} mod 1000, 3, '0'), 'Z')` };
  await connection.query('start transaction');
  let share = 0;
  for (const [kind, percent] of SHARES) {
    const payment = written[kind];
    const { version, state, history, event } = payment;
    const from = `from seq_${first}_to_${last} where seq % 100 >= ${share} and seq % 100 < ${(share += percent)}`;
    const insert = (table: string, columns: string, values: string) =>
      connection.query(`insert into ${table} (account, ${columns}) select 'default', ${values} ${from}`);
    const text = (sample: string) => varied(connection, sample, payment, own);
    await insert(
      'card_payment',
      'conversation_id, version, state, reference, token_hash, created_at, updated_at, finalized_at, record',
      `${own.id}, ${version}, '${state}', ${own.reference}, ${payment.tokenHash === null ? 'null' : own.token}, ${at}, ${at}, ${at}, ${text(payment.record)}`,
    );
    if (payment.holdsReference) {
      await insert('card_payment_reference_lock', 'reference, conversation_id', `${own.reference}, ${own.id}`);
    }
    if (payment.idempotencyKey !== null) {
      const base64 = `to_base64(unhex(sha2(${own.key}, 256)))`;
      const hash = `trim(trailing '=' from replace(replace(${base64}, '+', '-'), '/', '_'))`;
      await insert('card_payment_key', 'key_hash, conversation_id', `${hash}, ${own.id}`);
    }
    for (const { version: line, entry } of history) {
      await insert('card_payment_history', 'conversation_id, version, entry', `${own.id}, ${line}, ${text(entry)}`);
    }
    await insert(
      'card_payment_event',
      'event_id, conversation_id, version, type, occurred_at, waiting, event',
      `concat(${own.id}, ':${event.version}'), ${own.id}, ${event.version}, '${event.type}', ${at}, ${event.type === 'payment.expired' ? 1 : 0}, ${text(event.event)}`,
    );
  }
  await connection.query('commit');
}

/** An expression for the text in which what is this payment's own is that of another. */
function varied(
  connection: Connection,
  text: string,
  { conversationId, reference, tokenHash, attemptId, idempotencyKey }: WrittenPayment,
  own: Readonly<Record<keyof typeof OWN | 'iso', string>>,
): string {
  const found: readonly (readonly [string | RegExp | null, string])[] = [
    [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, own.iso],
    [conversationId, own.id],
    [reference, own.reference],
    [tokenHash, own.token],
    [attemptId, own.attempt],
    [idempotencyKey, own.key],
  ];
  // Parts in turn: a text, an expression, a text…
  let parts = [text];
  for (const [value, expression] of found) {
    if (value === null) continue;
    parts = parts.flatMap((part, index) =>
      index % 2 === 1
        ? [part]
        : part.split(value).flatMap((piece, place) => (place === 0 ? [piece] : [expression, piece])),
    );
  }
  return `concat(${parts.map((part, index) => (index % 2 === 1 ? part : connection.escape(part))).join(', ')})`;
}
