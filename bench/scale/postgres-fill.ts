import pg from 'pg';
import { postgresPaymentStore } from 'nestjs-card-payment/sql';
import { SHARES, SPREAD_MS } from './sample-payments.js';
import { FILLED_TABLES, type WrittenPayment, writtenPayments } from './written-payments.js';

/** What is a payment's own in a written text, in the order of the arguments of `format`. */
const OWN = ['id', 'reference', 'token', 'attempt', 'key', 'iso'] as const;

/**
 * Fills empty payment tables with settled payments as the store writes them: one of each kind is made by the package
 * itself, and what it wrote is varied by the server. Events were fanned out and delivered, but for those of expired
 * payments, for which no handler was ever announced.
 */
export async function fill(connectionString: string, stored: number): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const written = await writtenPayments(connectionString, {
    open: () => postgresPaymentStore({ connectionString }),
    rowsOf: async (table, conversationId) =>
      (await client.query<object>(`select * from ${table} where conversation_id = $1`, [conversationId])).rows,
  });
  await client.query(`set synchronous_commit = off; set maintenance_work_mem = '1GB'; set jit = off`);
  await makeKinds(
    client,
    SHARES.map(([kind]) => written[kind]),
  );
  // In one transaction with `truncate`, nothing of it goes through the write-ahead log.
  await client.query('begin');
  await client.query(`truncate ${FILLED_TABLES.join(', ')}`);
  const indexes = await dropIndexes(client);
  const isPartitioned = await makeMonths(client);
  await insertAll(client, stored, isPartitioned);
  for (const statement of indexes) await client.query(statement);
  await client.query('drop schema bench cascade');
  await client.query('commit');
  await client.query('vacuum analyze');
  await client.query('checkpoint');
  await client.end();
}

/** Two small tables: what is written of each kind, and each line of its history. */
async function makeKinds(client: pg.Client, kinds: readonly WrittenPayment[]): Promise<void> {
  await client.query('create schema bench');
  await client.query(`create table bench.kind
    (kind integer, version integer, state text, record text, has_token boolean, has_key boolean, locks boolean,
     event_version integer, event_type text, event text, waiting integer)`);
  await client.query('create table bench.line (kind integer, version integer, entry text)');
  for (const [kind, payment] of kinds.entries()) {
    const { version, state, record, tokenHash, idempotencyKey, holdsReference, history, event } = payment;
    const flags = [tokenHash !== null, idempotencyKey !== null, holdsReference];
    const happened = [
      event.version,
      event.type,
      varied(event.event, payment),
      event.type === 'payment.expired' ? 1 : 0,
    ];
    const row = [kind, version, state, varied(record, payment), ...flags, ...happened];
    await client.query('insert into bench.kind values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)', row);
    for (const { version: line, entry } of history) {
      await client.query('insert into bench.line values ($1, $2, $3)', [kind, line, varied(entry, payment)]);
    }
  }
}

/** The text with what is this payment's own left open, for PostgreSQL's `format`. */
function varied(text: string, { conversationId, reference, tokenHash, attemptId, idempotencyKey }: WrittenPayment) {
  const own = { id: conversationId, reference, token: tokenHash, attempt: attemptId, key: idempotencyKey };
  let format = text.replaceAll('%', '%%').replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, place('iso'));
  for (const [name, value] of Object.entries(own)) {
    if (value !== null) format = format.replaceAll(value, place(name as keyof typeof own));
  }
  return format;
}

function place(name: (typeof OWN)[number]): string {
  return `%${OWN.indexOf(name) + 1}$s`;
}

async function insertAll(client: pg.Client, stored: number, isPartitioned: boolean): Promise<void> {
  let share = 0;
  const kinds = SHARES.map(([, percent], kind) => `when number % 100 < ${(share += percent)} then ${kind}`);
  // The last payment was made ten minutes ago.
  const at = `${Date.now() - 600_000 - SPREAD_MS} + floor(number * (${SPREAD_MS / stored})::float8)::bigint`;
  const keyHash = `rtrim(translate(encode(sha256(key::bytea), 'base64'), '+/', '-_'), '=')`;
  await client.query(`create view bench.payment as
    select *, to_char(to_timestamp(at / 1000.0) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as iso
    from (
      select number, case ${kinds.join(' ')} end as kind, ${at} as at,
        upper(substr(md5(number::text), 1, 20)) as id,
        'order-' || number as reference,
        encode(sha256(number::text::bytea), 'hex') as token,
        substr(md5('attempt ' || number), 1, 22) as attempt,
        'checkout-' || number as key
      from generate_series(1, ${stored}) as number
    ) as numbered`);
  const own = OWN.join(', ');
  // Laterally, so that rows stand in the order of time.
  const of = (table: string) =>
    `from bench.payment cross join lateral (select * from bench.${table} as one where one.kind = payment.kind) as ${table}`;
  await client.query(`insert into card_payment
    (account, conversation_id, version, state, reference, token_hash, created_at, updated_at, finalized_at, record)
    select 'default', id, version, state, reference, case when has_token then token end, at, at, at,
      format(record, ${own}) ${of('kind')}`);
  await client.query(`insert into card_payment_reference_lock (account, reference, conversation_id)
    select 'default', reference, id ${of('kind')} where locks`);
  await client.query(`insert into card_payment_key (account, key_hash, conversation_id)
    select 'default', ${keyHash}, id ${of('kind')} where has_key`);
  await client.query(`insert into card_payment_history
    (account, conversation_id, version, entry ${isPartitioned ? ', written_at' : ''})
    select 'default', id, line.version, format(entry, ${own}) ${isPartitioned ? ', at' : ''}
    ${of('line')}`);
  await client.query(`insert into card_payment_event
    (account, event_id, conversation_id, version, type, occurred_at, waiting, event)
    select 'default', id || ':' || event_version, id, event_version, event_type, at, waiting, format(event, ${own})
    ${of('kind')}`);
}

/** Where history and events are split by month: the months that are filled. @returns whether they are */
async function makeMonths(client: pg.Client): Promise<boolean> {
  const { rowCount } = await client.query(`select from pg_proc where proname = 'card_payment_add_month'`);
  if (rowCount === 0) return false;
  await client.query(
    `select card_payment_add_month((now() - make_interval(days => 28 * n))::date) from generate_series(0, 14) as n`,
  );
  return true;
}

/** Drops the indexes of tables that are not partitioned. @returns the statements that make them again */
async function dropIndexes(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ drop: string; make: string }>(
    `select
       case when c.conname is null then format('drop index %I', i.indexrelid::regclass)
         else format('alter table %s drop constraint %I', i.indrelid::regclass, c.conname) end as drop,
       case when c.conname is null then pg_get_indexdef(i.indexrelid)
         else format('alter table %s add constraint %I %s', i.indrelid::regclass, c.conname,
           pg_get_constraintdef(c.oid)) end as make
     from pg_index as i join pg_class as t on t.oid = i.indrelid
     left join pg_constraint as c on c.conindid = i.indexrelid
     where t.relname = any($1) and t.relkind = 'r'
     order by i.indexrelid`,
    [FILLED_TABLES],
  );
  for (const { drop } of rows) await client.query(drop);
  return rows.map(({ make }) => make);
}
