import { codeOf, importDriver } from '../../../../lib/store/sql/driver-errors.js';
import type { SqlEngine } from '../../../../lib/store/sql/sql-engine.js';

const [TABLE_EXISTS, TYPE_EXISTS, UNIQUE_VIOLATION] = ['42P07', '42710', '23505'];

/**
 * A database as docs/internals/adding-a-database.md says one is added: PostgreSQL, used as a database that knows less. Its keys
 * have lengths, its indexes hold every row, each change of its schema commits by itself and is kept apart by a row, and
 * its writes are transactions of several statements without `update … returning`.
 */
export const thirdEngine = {
  name: 'third' as const,
  displayName: 'the third database',

  urlForm: 'third://…',
  owns: (url) => /^third:\/\/./.test(url),
  async open(url) {
    const connectionString = url.replace(/^third/, 'postgres');
    const { PostgresDialect } = await importDriver('kysely pg', () => import('kysely'));
    const pool = async () => {
      const { default: pg } = await importDriver('kysely pg', () => import('pg'));
      return new pg.Pool({ connectionString }).on('error', () => undefined);
    };
    return { dialect: new PostgresDialect({ pool }), hasLimitedSessions: () => false };
  },
  unprotectedHost: () => null,
  tlsOption: null,

  checkServer: () => Promise.resolve([]),

  schema: {
    keyType: (maxBytes) => `varchar(${maxBytes}) collate "C"`,
    jsonType: 'text',
    tableEnd: () => ' with (fillfactor = 90)',
    indexOf: () => '',
    isTransactional: true,
    now: 'floor(extract(epoch from now()) * 1000)',
  },
  time: '(select floor(extract(epoch from clock_timestamp()) * 1000)::bigint)',
  hasTable: (table) => ({
    sql: 'select from pg_class where relname = $1 and pg_table_is_visible(oid)',
    parameters: [table],
  }),
  async changeSchema(database, change) {
    // What another process has done already, before it took the row or before it died, is passed over.
    const run: Parameters<typeof change>[0] = (statement) =>
      database.run(statement).catch((error: unknown) => {
        if (![TABLE_EXISTS, TYPE_EXISTS, UNIQUE_VIOLATION].includes(codeOf(error))) throw error;
        return [];
      });
    await run({ sql: 'create table if not exists third_lock (id integer primary key, taken_at timestamptz not null)' });
    // The row of a process that died is taken after ten seconds.
    const take = {
      sql: `insert into third_lock values (1, now()) on conflict (id) do update set taken_at = now()
        where third_lock.taken_at < now() - interval '10 seconds' returning id`,
    };
    while ((await run(take)).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    try {
      await change(run);
    } finally {
      await run({ sql: 'delete from third_lock' });
    }
  },

  begin: [{ sql: 'begin isolation level read committed' }],
  limits: [{ sql: `select set_config('statement_timeout', '10s', true), set_config('lock_timeout', '5s', true)` }],
  isBusy: (error) => ['40P01', '40001'].includes(codeOf(error)),
  rowLock: () => 'for update skip locked',
  fanOutLock: (account) => ({
    sql: 'select from card_payment_handler where account = $1 order by type, handler_id limit 1 for update',
    parameters: [account],
  }),
  unlessTaken: 'on conflict do nothing',
  orOverwrite: (primaryKey, column) =>
    `on conflict (${primaryKey.join(', ')}) do update set ${column} = excluded.${column}`,
  asTexts: null,
  writes: async () => ({
    ...(await import('./third-ledger.js')),
    ...(await import('../../../../lib/store/sql/outbox-writes.js')),
  }),

  failures: [[/^3D000$/, 'has no such database']],
  uncodedFailures: [],
} satisfies SqlEngine;
