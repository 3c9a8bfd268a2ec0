import type { PostgresPool } from 'kysely';
import { importDriver } from './driver-errors.js';
import type { SqlEngine } from './sql-engine.js';
import { updateReturning } from './update-payment.js';

const POSTGRES_PACKAGES = 'kysely pg';
const CONNECT_TIMEOUT_MS = 10_000;
/** Any number, as long as every release uses the same. */
const MIGRATION_LOCK = 7_242_073_316;

/** PostgreSQL by pg. */
export const postgresEngine = {
  name: 'postgres',
  displayName: 'PostgreSQL',

  urlForm: 'postgres://…',
  owns: (url) => /^postgres(?:ql)?:\/\/./.test(url),
  async open(url) {
    if (!URL.canParse(url)) throw new Error('a PostgreSQL URL looks like postgres://user:password@host:5432/database');
    const { PostgresDialect } = await importDriver(POSTGRES_PACKAGES, () => import('kysely'));
    return new PostgresDialect({ pool: () => makePostgresPool(url) });
  },

  schema: {
    keyType: 'text collate "C"',
    jsonType: 'text',
    compactTable: '',
    indexOf: (condition) => ` where ${condition}`,
    now: 'floor(extract(epoch from now()) * 1000)',
  },
  hasTable: (table) => ({
    sql: 'select from pg_class where relname = $1 and pg_table_is_visible(oid)',
    parameters: [table],
  }),
  migrationLock: { take: [{ sql: `select pg_advisory_xact_lock(${MIGRATION_LOCK})` }], release: [] },

  // Whatever the database's own default is.
  begin: [{ sql: 'begin isolation level read committed' }],
  isBusy: () => false,
  rowLock: (table) => `for update of "${table}" skip locked`,
  handlerLock: (account, mode) => ({
    sql: `select pg_advisory_xact_lock${mode === 'shared' ? '_shared' : ''}(hashtextextended($1, 0))`,
    parameters: [`card_payment ${account}`],
  }),

  unlessTaken: 'on conflict do nothing',
  updatePayment: updateReturning,

  failures: [
    [/^(ECONN|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT|EPIPE)/, 'does not answer; is it running, and reachable from here?'],
    [/^28/, 'refuses this user or password'],
    [/^3D000$/, 'has no such database'],
    [/^42501$/, 'does not let this user make or read the payment tables'],
    [/^53300$/, 'has too many connections already'],
    [/^57P03$/, 'is starting up or shutting down'],
    [/CERT|SELF_SIGNED|TLS|SSL/, 'has a TLS certificate that cannot be trusted'],
  ],
  uncodedFailures: [[/timeout/i, 'ETIMEDOUT']],
} as const satisfies SqlEngine;

/** A pool of connections to the database of a URL. */
export async function makePostgresPool(connectionString: string, max = 10): Promise<PostgresPool> {
  const { default: pg } = await importDriver(POSTGRES_PACKAGES, () => import('pg'));
  const pool = new pg.Pool({ connectionString, max, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, keepAlive: true });
  // A connection that breaks fails what runs on it and is replaced; without listeners it would also end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
