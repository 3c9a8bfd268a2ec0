import { SchemaError } from './driver-errors.js';
import { engineNamed, type SqlDialect } from './engines.js';
import type { SqlDatabase } from './sql-database.js';
import type { RunStatement, SchemaSyntax, SqlEngine } from './sql-engine.js';

export const MIGRATION_TABLE = 'card_payment_migration';

/**
 * The longest keys in bytes, for databases that need to know. Texts of up to 255 characters have up to three bytes
 * each; an event's id is its payment's with a version.
 */
const KEY_BYTES = {
  account: 128,
  conversation_id: 765,
  event_id: 776,
  reference: 765,
  token_hash: 64,
  key_hash: 64,
  handler_id: 255,
  state: 32,
  type: 64,
  lease: 64,
};

/** How a step writes its tables: the types of keys by their name, and what {@link SchemaSyntax} says. */
interface TableSyntax extends SchemaSyntax {
  readonly key: Readonly<Record<keyof typeof KEY_BYTES, string>>;
  /**
   * A flag as a column of an index that is limited to the rows with one value of it, where the database has no partial
   * indexes: otherwise queries would read past all other rows.
   */
  readonly indexedFlag: (column: string) => string;
}

/** One step of the schema. */
interface Migration {
  /**
   * The lowest version that a release must know to use the tables after this step. A step whose additions older
   * releases can ignore repeats that of the step before, so that two releases can run side by side.
   */
  readonly lowest: number;
  readonly statements: (syntax: TableSyntax) => readonly string[];
}

/**
 * Each step of the schema, oldest first. A released step never changes; a change is a further step.
 *
 * Texts from outside are stored as JSON: PostgreSQL's text cannot hold a NUL, and no text of a gateway or a handler may
 * prevent an outcome from being written. Times are integers, in milliseconds since 1970 UTC. Queries repeat the
 * conditions of partial indexes word for word.
 */
const MIGRATIONS: readonly Migration[] = [
  {
    lowest: 1,
    statements: ({ key, jsonType: json, tableEnd, indexOf, indexedFlag }) => [
      `create table card_payment (
  account ${key.account} not null,
  conversation_id ${key.conversation_id} not null,
  version integer not null,
  state ${key.state} not null,
  reference ${key.reference},
  token_hash ${key.token_hash},
  created_at bigint not null,
  updated_at bigint not null,
  finalized_at bigint,
  due_at bigint,
  record ${json} not null,
  primary key (account, conversation_id)
)${tableEnd(false)}`,
      'create unique index card_payment_token_hash on card_payment (account, token_hash)',
      `create index card_payment_reference on card_payment (account, reference, created_at)${indexOf('reference is not null')}`,
      'create index card_payment_state on card_payment (account, state, updated_at)',
      `create index card_payment_due on card_payment (account, due_at)${indexOf('due_at is not null')}`,
      `create index card_payment_finalized on card_payment (account, finalized_at, conversation_id)${indexOf('finalized_at is not null')}`,

      `create table card_payment_reference_lock (
  account ${key.account} not null,
  reference ${key.reference} not null,
  conversation_id ${key.conversation_id},
  primary key (account, reference)
)${tableEnd(true)}`,
      `create index card_payment_reference_lock_holder on card_payment_reference_lock (account, conversation_id)${indexOf('conversation_id is not null')}`,

      `create table card_payment_key (
  account ${key.account} not null,
  key_hash ${key.key_hash} not null,
  conversation_id ${key.conversation_id},
  purged_at bigint,
  primary key (account, key_hash)
)${tableEnd(true)}`,
      `create index card_payment_key_holder on card_payment_key (account, conversation_id)${indexOf('conversation_id is not null')}`,
      `create index card_payment_key_purged on card_payment_key (account, purged_at)${indexOf('purged_at is not null')}`,

      `create table card_payment_history (
  account ${key.account} not null,
  conversation_id ${key.conversation_id} not null,
  version integer not null,
  entry ${json} not null,
  primary key (account, conversation_id, version)
)${tableEnd(true)}`,

      `create table card_payment_event (
  account ${key.account} not null,
  event_id ${key.event_id} not null,
  conversation_id ${key.conversation_id} not null,
  version integer not null,
  type ${key.type} not null,
  occurred_at bigint not null,
  waiting integer not null,
  event ${json} not null,
  primary key (account, event_id)
)${tableEnd(false)}`,
      'create index card_payment_event_payment on card_payment_event (account, conversation_id)',
      `create index card_payment_event_waiting on card_payment_event (account, ${indexedFlag('waiting')}type, occurred_at)${indexOf('waiting = 1')}`,

      `create table card_payment_handler (
  account ${key.account} not null,
  type ${key.type} not null,
  handler_id ${key.handler_id} not null,
  announced_at bigint not null,
  primary key (account, type, handler_id)
)${tableEnd(true)}`,

      `create table card_payment_delivery (
  account ${key.account} not null,
  handler_id ${key.handler_id} not null,
  event_id ${key.event_id} not null,
  conversation_id ${key.conversation_id} not null,
  version integer not null,
  type ${key.type} not null,
  occurred_at bigint not null,
  attempts integer not null,
  parked integer not null,
  error ${json},
  lease ${key.lease},
  due_at bigint not null,
  primary key (account, handler_id, event_id)
)${tableEnd(false)}`,
      'create index card_payment_delivery_payment on card_payment_delivery (account, conversation_id, handler_id, version)',
      `create index card_payment_delivery_due on card_payment_delivery (account, ${indexedFlag('parked')}handler_id, type, due_at, version)${indexOf('parked = 0')}`,
      `create index card_payment_delivery_parked on card_payment_delivery (account, ${indexedFlag('parked')}occurred_at)${indexOf('parked = 1')}`,
    ],
  },
];

/** The version that this release needs. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** The whole schema as SQL, for hosts that run their own migrations and open the store with `migrate: false`. */
export function paymentSchema(dialect: SqlDialect): string {
  const { schema } = engineNamed(dialect);
  const statements = [createMigrationTable(schema), ...statementsSince(0, schema, schema.now)];
  const all = schema.isTransactional ? ['begin', ...statements, 'commit'] : statements;
  return all.map((statement) => `${statement};\n`).join('\n');
}

/** Makes or updates the tables, one process at a time; without `mayMigrate` it only checks them. */
export async function migrateSchema(database: SqlDatabase, engine: SqlEngine, mayMigrate: boolean): Promise<void> {
  const version = await usableVersion((statement) => database.run(statement), engine);
  if (version >= SCHEMA_VERSION) return;
  if (!mayMigrate) throw new SchemaError(older(version, engine));
  await engine.changeSchema(database, async (run) => {
    // Another process may have made the tables while this one waited for its turn.
    const current = await usableVersion(run, engine);
    if (current >= SCHEMA_VERSION) return;
    if (!(await hasMigrationTable(run, engine))) await run({ sql: createMigrationTable(engine.schema) });
    for (const sql of statementsSince(current, engine.schema, String(Date.now()))) await run({ sql });
  });
}

export function createMigrationTable({ tableEnd }: SchemaSyntax): string {
  return (
    `create table ${MIGRATION_TABLE} ` +
    `(version integer primary key, lowest integer not null, applied_at bigint not null)${tableEnd(false)}`
  );
}

/** The statements of all steps after a version, each with the row that says it was done. */
function statementsSince(version: number, schema: SchemaSyntax, now: string): string[] {
  const types = Object.entries(KEY_BYTES).map(([name, bytes]) => [name, schema.keyType(bytes)]);
  const syntax: TableSyntax = {
    ...schema,
    key: Object.fromEntries(types) as TableSyntax['key'],
    indexedFlag: (column) => (schema.indexOf('') === '' ? `${column}, ` : ''),
  };
  return MIGRATIONS.slice(version).flatMap(({ lowest, statements }, index) => [
    ...statements(syntax),
    `insert into ${MIGRATION_TABLE} (version, lowest, applied_at) values (${version + index + 1}, ${lowest}, ${now})`,
  ]);
}

/**
 * The version of the tables; 0 if there are none.
 * @throws SchemaError when they are newer than this release may use
 */
async function usableVersion(run: RunStatement, engine: SqlEngine): Promise<number> {
  if (!(await hasMigrationTable(run, engine))) return 0;
  const sql = `select version, lowest from ${MIGRATION_TABLE} order by version desc limit 1`;
  const [newest] = (await run({ sql })) as { readonly version: number; readonly lowest: number }[];
  if (!newest) return 0;
  if (newest.lowest > SCHEMA_VERSION) throw new SchemaError(newer(newest.version));
  return newest.version;
}

async function hasMigrationTable(run: RunStatement, engine: SqlEngine): Promise<boolean> {
  return (await run(engine.hasTable(MIGRATION_TABLE))).length > 0;
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
