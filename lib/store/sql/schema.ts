import type { RunStatement, SqlEngine } from './engine.js';
import { engineNamed, type SqlDialect } from './engines.js';
import { ShownError } from './errors.js';

const SCHEMA_TABLE = 'card_payment_schema_version';
/** The tables of versions of what was never released, whose tables have other columns under the same names. */
const EARLIER_TABLES = ['card_payment_migration', 'card_payment_schema'];

/**
 * The longest keys in bytes, for databases that need to know. Texts of up to 255 characters have up to three bytes
 * each; an event's id is its payment's with a version.
 */
const KEY_BYTES = {
  account: 128,
  conversation_id: 765,
  event_id: 800,
  reference: 765,
  gateway: 300,
  name: 64,
  handler_id: 255,
  state: 32,
  type: 64,
  lease: 64,
};

/**
 * Each step of the schema, oldest first, as a function of how a database writes it. A released step never changes; a
 * change is a further step. `lowest` is the lowest version that a release must know to use the tables afterwards: a
 * step whose additions older releases can ignore repeats that of the step before, so that two releases can run side by
 * side.
 *
 * Each statement may run again: what is there already is passed over. Texts from outside are stored as JSON:
 * PostgreSQL's text cannot hold a NUL, and no text of a gateway or a handler may prevent an outcome from being written.
 * Times are integers, in milliseconds since 1970 UTC.
 */
const STEPS: readonly { readonly lowest: number; readonly statements: (engine: SqlEngine) => readonly string[] }[] = [
  {
    lowest: 1,
    statements: ({ schema: { keyType, jsonType, tableEnd, indexOf } }) => {
      const key = Object.fromEntries(
        Object.entries(KEY_BYTES).map(([name, bytes]) => [name, keyType(bytes)]),
      ) as Record<keyof typeof KEY_BYTES, string>;
      return [
        `create table if not exists card_payment (
  account ${key.account} not null,
  conversation_id ${key.conversation_id} not null,
  version integer not null,
  state ${key.state} not null,
  is_refund integer not null,
  parent_id ${key.conversation_id},
  reference ${key.reference},
  gateway ${key.gateway},
  created_at bigint not null,
  updated_at bigint not null,
  finalized_at bigint,
  due_at bigint,
  redirect_url ${jsonType},
  refunds integer not null default 0,
  primary key (account, conversation_id)
)${tableEnd(false)}`,
        'create index card_payment_created on card_payment (account, is_refund, created_at, conversation_id)',
        'create index card_payment_state on card_payment (account, is_refund, state, created_at, conversation_id, updated_at)',
        `create index card_payment_reference on card_payment (account, reference, created_at)${indexOf('reference is not null')}`,
        `create index card_payment_parent on card_payment (account, parent_id)${indexOf('parent_id is not null')}`,
        `create index card_payment_due on card_payment (account, due_at)${indexOf('due_at is not null')}`,
        `create index card_payment_finalized on card_payment (account, finalized_at, conversation_id)${indexOf('finalized_at is not null')}`,

        `create table if not exists card_payment_version (
  account ${key.account} not null,
  conversation_id ${key.conversation_id} not null,
  version integer not null,
  type ${key.type},
  record ${jsonType} not null,
  primary key (account, conversation_id, version)
)${tableEnd(false)}`,

        `create table if not exists card_payment_name (
  account ${key.account} not null,
  name ${key.name} not null,
  conversation_id ${key.conversation_id},
  purged_at bigint,
  primary key (account, name)
)${tableEnd(true)}`,
        'create index card_payment_name_owner on card_payment_name (account, conversation_id, purged_at)',

        `create table if not exists card_payment_handler (
  account ${key.account} not null,
  type ${key.type} not null,
  handler_id ${key.handler_id} not null,
  announced_at bigint not null,
  primary key (account, type, handler_id)
)${tableEnd(true)}`,

        `create table if not exists card_payment_delivery (
  account ${key.account} not null,
  handler_id ${key.handler_id} not null,
  event_id ${key.event_id} not null,
  conversation_id ${key.conversation_id} not null,
  version integer not null,
  type ${key.type} not null,
  occurred_at bigint not null,
  status integer not null,
  attempts integer not null,
  error ${jsonType},
  lease ${key.lease},
  due_at bigint not null,
  primary key (account, handler_id, event_id)
)${tableEnd(false)}`,
        'create index card_payment_delivery_payment on card_payment_delivery (account, conversation_id, version)',
        'create index card_payment_delivery_due on card_payment_delivery (account, status, handler_id, type, due_at, version)',
        'create index card_payment_delivery_listed on card_payment_delivery (account, status, occurred_at, event_id, handler_id)',
      ];
    },
  },
];

/** The version that this release needs. */
export const SCHEMA_VERSION = STEPS.length;

/** The whole schema as SQL, for hosts that run their own migrations and open the store with `migrate: false`. */
export function paymentSchema(dialect: SqlDialect): string {
  const engine = engineNamed(dialect);
  const { isTransactional, now } = engine.schema;
  const statements = statementsSince(0, engine, now);
  const all = isTransactional ? ['begin', ...statements, 'commit'] : statements;
  return all.map((statement) => `${statement};\n`).join('\n');
}

/** Makes or updates the tables; without `mayMigrate` it only checks them. Any number of processes may do so at once. */
export async function migrateSchema(run: RunStatement, engine: SqlEngine, mayMigrate: boolean): Promise<void> {
  const version = await usableVersion(run, engine);
  if (version >= SCHEMA_VERSION) return;
  if (!mayMigrate) throw new ShownError(older(version, engine));
  for (const sql of statementsSince(version, engine, String(Date.now()))) {
    await run({ sql }).catch((error: unknown) => {
      if (!engine.isThere(error) && !engine.isTaken(error)) throw error;
    });
  }
}

/** The statements of all steps after a version, each step with the row that says it was done. */
function statementsSince(version: number, engine: SqlEngine, now: string): string[] {
  const created =
    `create table if not exists ${SCHEMA_TABLE} ` +
    `(version integer primary key, lowest integer not null, applied_at bigint not null)${engine.schema.tableEnd(false)}`;
  const steps = STEPS.slice(version).flatMap(({ lowest, statements }, index) => [
    ...statements(engine),
    `insert into ${SCHEMA_TABLE} (version, lowest, applied_at) values (${version + index + 1}, ${lowest}, ${now})`,
  ]);
  return [created, ...steps];
}

/**
 * The version of the tables; 0 if there are none.
 * @throws ShownError when they are newer than this release may use, or of what was never released
 */
async function usableVersion(run: RunStatement, engine: SqlEngine): Promise<number> {
  const hasTable = async (table: string): Promise<boolean> => (await run(engine.hasTable(table))).length > 0;
  if (!(await hasTable(SCHEMA_TABLE))) {
    for (const table of EARLIER_TABLES) if (await hasTable(table)) throw new ShownError(earlier(table));
    return 0;
  }
  const sql = `select version, lowest from ${SCHEMA_TABLE} order by version desc limit 1`;
  const [newest] = (await run({ sql })) as { readonly version: number; readonly lowest: number }[];
  if (!newest) return 0;
  if (newest.lowest > SCHEMA_VERSION) throw new ShownError(newer(newest.version));
  return newest.version;
}

function earlier(table: string): string {
  return (
    'the payment tables were made by a version of nestjs-card-payment before its first release, which this one cannot ' +
    `read (it has the table ${table}): settle what is open with that version, then drop its tables, whose names begin ` +
    'with card_payment, or use another database'
  );
}

function newer(version: number): string {
  return (
    `the payment tables are of version ${version}, newer than this release of nestjs-card-payment, ` +
    `which knows version ${SCHEMA_VERSION}: update nestjs-card-payment`
  );
}

function older(version: number, { name }: SqlEngine): string {
  return (
    `the payment tables are ${version === 0 ? 'missing' : `of version ${version}`}, and this release of ` +
    `nestjs-card-payment needs version ${SCHEMA_VERSION}: apply what ` +
    `"npx nestjs-card-payment schema --dialect ${name}" prints, or start the application with \`migrate\` on`
  );
}
