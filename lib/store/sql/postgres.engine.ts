import { codeOf, importDriver } from './driver-errors.js';
import { POSTGRES_PACKAGES, postgresAccess, SESSION_LIMITS } from './postgres-access.js';
import { unprotectedPostgresHost } from './postgres-tls.js';
import type { SqlEngine } from './sql-engine.js';

/** Any number, as long as every release uses the same. */
const MIGRATION_LOCK = 7_242_073_316;

/** PostgreSQL by pg. */
export const postgresEngine = {
  name: 'postgres' as const,
  displayName: 'PostgreSQL',

  urlForm: 'postgres://…',
  owns: (url) => /^postgres(?:ql)?:\/\/./.test(url),
  async open(url) {
    if (!URL.canParse(url)) throw new Error('a PostgreSQL URL looks like postgres://user:password@host:5432/database');
    const { PostgresDialect } = await importDriver(POSTGRES_PACKAGES, () => import('kysely'));
    return postgresAccess(PostgresDialect, url);
  },

  unprotectedHost: unprotectedPostgresHost,

  schema: {
    keyType: 'text collate "C"',
    jsonType: 'text',
    compactTable: '',
    indexOf: (condition) => ` where ${condition}`,
    now: 'floor(extract(epoch from now()) * 1000)',
  },
  // In a query of its own, it is asked once a statement, and an index can be searched by it.
  time: '(select floor(extract(epoch from clock_timestamp()) * 1000)::bigint)',
  hasTable: (table) => ({
    sql: 'select from pg_class where relname = $1 and pg_table_is_visible(oid)',
    parameters: [table],
  }),
  migrationLock: { take: [{ sql: `select pg_advisory_xact_lock(${MIGRATION_LOCK})` }], release: [] },

  // Whatever the database's own default is.
  begin: [{ sql: 'begin isolation level read committed' }],
  limits: [
    {
      sql: `select ${Object.entries(SESSION_LIMITS)
        .map(([name, ms]) => `set_config('${name}', '${ms}', true)`)
        .join(', ')}`,
    },
  ],
  // A deadlock, or a database whose default isolation is a stricter one.
  isBusy: (error) => ['40P01', '40001'].includes(codeOf(error)),
  rowLock: (table) => `for update of "${table}" skip locked`,
  fanOutLock: (account) => ({
    sql: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
    parameters: [`card_payment ${account}`],
  }),

  unlessTaken: 'on conflict do nothing',
  writes: 'inOneStatement',

  failures: [
    [/^(ECONN|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT|EPIPE)/, 'does not answer; is it running, and reachable from here?'],
    [/^28/, 'refuses this user or password'],
    [/^3D000$/, 'has no such database'],
    [/^42501$/, 'does not let this user make or read the payment tables'],
    [/^53300$/, 'has too many connections already'],
    [/^55P03$/, 'is being changed by another process that does not finish; try again'],
    [/^57014$/, 'answers too slowly'],
    [/^57P03$/, 'is starting up or shutting down'],
    [/^EPROTO$|PROTOCOL_VERSION|HANDSHAKE_FAILURE/, 'does not agree on TLS: 1.2 or 1.3, with forward secrecy'],
    [/CERT|SELF_SIGNED|TLS|SSL/, 'has a TLS certificate that cannot be trusted'],
  ],
  uncodedFailures: [[/timeout/i, 'ETIMEDOUT']],
} satisfies SqlEngine;
