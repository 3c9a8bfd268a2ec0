import { engineNamed, type SqlDialect } from './engines.js';
import type { SchemaSyntax } from './sql-engine.js';

export const MIGRATION_TABLE = 'card_payment_migration';

/** One step of the schema. */
interface Migration {
  /**
   * The lowest version that a release must know to use the tables after this step. A step that only adds what older
   * releases pass over repeats the one of the step before, so that two releases can run side by side.
   */
  readonly lowest: number;
  readonly statements: (syntax: SchemaSyntax) => readonly string[];
}

/**
 * Each step of the schema, oldest first. A released step never changes; a change is a further step.
 *
 * Texts that come from outside are stored as JSON: PostgreSQL's text takes no NUL, and nothing that a gateway or a
 * handler says may keep an outcome from being written. Times are integers, in milliseconds since 1970 UTC. Queries
 * repeat the conditions of partial indexes word for word.
 */
const MIGRATIONS: readonly Migration[] = [
  {
    lowest: 1,
    statements: ({ keyType: key, jsonType: json, compactTable: compact, indexOf }) => [
      `create table card_payment (
  account ${key} not null,
  conversation_id ${key} not null,
  version integer not null,
  state ${key} not null,
  reference ${key},
  token_hash ${key},
  created_at bigint not null,
  updated_at bigint not null,
  finalized_at bigint,
  due_at bigint,
  record ${json} not null,
  primary key (account, conversation_id)
)`,
      'create unique index card_payment_token_hash on card_payment (account, token_hash)',
      `create index card_payment_reference on card_payment (account, reference, created_at)${indexOf('reference is not null')}`,
      'create index card_payment_state on card_payment (account, state, updated_at)',
      `create index card_payment_due on card_payment (account, due_at)${indexOf('due_at is not null')}`,
      `create index card_payment_finalized on card_payment (account, finalized_at, conversation_id)${indexOf('finalized_at is not null')}`,

      `create table card_payment_reference_lock (
  account ${key} not null,
  reference ${key} not null,
  conversation_id ${key},
  primary key (account, reference)
)${compact}`,
      `create index card_payment_reference_lock_holder on card_payment_reference_lock (account, conversation_id)${indexOf('conversation_id is not null')}`,

      `create table card_payment_key (
  account ${key} not null,
  key_hash ${key} not null,
  conversation_id ${key},
  purged_at bigint,
  primary key (account, key_hash)
)${compact}`,
      `create index card_payment_key_holder on card_payment_key (account, conversation_id)${indexOf('conversation_id is not null')}`,
      `create index card_payment_key_purged on card_payment_key (account, purged_at)${indexOf('purged_at is not null')}`,

      `create table card_payment_history (
  account ${key} not null,
  conversation_id ${key} not null,
  version integer not null,
  entry ${json} not null,
  primary key (account, conversation_id, version)
)${compact}`,

      `create table card_payment_event (
  account ${key} not null,
  event_id ${key} not null,
  conversation_id ${key} not null,
  version integer not null,
  type ${key} not null,
  occurred_at bigint not null,
  waiting integer not null,
  event ${json} not null,
  primary key (account, event_id)
)`,
      'create index card_payment_event_payment on card_payment_event (account, conversation_id)',
      `create index card_payment_event_waiting on card_payment_event (account, type, occurred_at)${indexOf('waiting = 1')}`,

      `create table card_payment_handler (
  account ${key} not null,
  type ${key} not null,
  handler_id ${key} not null,
  announced_at bigint not null,
  primary key (account, type, handler_id)
)${compact}`,

      `create table card_payment_delivery (
  account ${key} not null,
  handler_id ${key} not null,
  event_id ${key} not null,
  conversation_id ${key} not null,
  version integer not null,
  type ${key} not null,
  occurred_at bigint not null,
  attempts integer not null,
  parked integer not null,
  error ${json},
  lease ${key},
  due_at bigint not null,
  primary key (account, handler_id, event_id)
)`,
      'create index card_payment_delivery_payment on card_payment_delivery (account, conversation_id, handler_id, version)',
      `create index card_payment_delivery_due on card_payment_delivery (account, handler_id, type, due_at, version)${indexOf('parked = 0')}`,
      `create index card_payment_delivery_parked on card_payment_delivery (account, occurred_at)${indexOf('parked = 1')}`,
    ],
  },
];

export const CREATE_MIGRATION_TABLE =
  `create table ${MIGRATION_TABLE} ` +
  '(version integer primary key, lowest integer not null, applied_at bigint not null)';

/** The version that this release needs. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** The lowest version that a release must know to use the tables of this one. */
export function lowestFor(version: number): number {
  return MIGRATIONS[version - 1]?.lowest ?? version;
}

/** The statements that lead to this version from the one before. */
export function migrationTo(version: number, syntax: SchemaSyntax): readonly string[] {
  return MIGRATIONS[version - 1]?.statements(syntax) ?? [];
}

/** The whole schema as SQL, for those who run their own migrations and open the store with `migrate: false`. */
export function paymentSchema(dialect: SqlDialect): string {
  const { schema } = engineNamed(dialect);
  const statements = [CREATE_MIGRATION_TABLE];
  for (let version = 1; version <= SCHEMA_VERSION; version += 1) {
    statements.push(...migrationTo(version, schema));
    statements.push(
      `insert into ${MIGRATION_TABLE} (version, lowest, applied_at) ` +
        `values (${version}, ${lowestFor(version)}, ${schema.now})`,
    );
  }
  return ['begin', ...statements, 'commit'].map((statement) => `${statement};\n`).join('\n');
}
