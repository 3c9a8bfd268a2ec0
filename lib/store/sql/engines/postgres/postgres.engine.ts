import { looksAtNoCertificate } from '../../../../payment/tls.js';
import { codeOf, ESCAPES_IN_URLS, importDriver } from '../../driver-errors.js';
import type { Environment, SqlEngine } from '../../sql-engine.js';
import { checkPostgresServer } from './server-check.js';
import { POSTGRES_PACKAGES, postgresAccess, SESSION_LIMITS } from './postgres-pool.js';

/** Any number will do, but every release must use the same. */
const MIGRATION_LOCK = 7_242_073_316;

/** With these, pg uses TLS, and checks the certificate unless `uselibpqcompat` tells it not to. */
const TLS_MODES: ReadonlySet<string> = new Set(['prefer', 'require', 'verify-ca', 'verify-full']);
const UNCHECKED_MODES: ReadonlySet<string> = new Set(['prefer', 'require']);
const TLS_FILES = ['sslcert', 'sslkey', 'sslrootcert'];

/** PostgreSQL by pg. */
export const postgresEngine = {
  name: 'postgres' as const,
  displayName: 'PostgreSQL',

  urlForm: 'postgres://…',
  owns: (url) => /^postgres(?:ql)?:\/\/./.test(url),
  async open(url) {
    if (!URL.canParse(url)) {
      throw new Error(`a PostgreSQL URL looks like postgres://user:password@host:5432/database; ${ESCAPES_IN_URLS}`);
    }
    const { PostgresDialect } = await importDriver(POSTGRES_PACKAGES, () => import('kysely'));
    return postgresAccess(PostgresDialect, url);
  },

  unprotectedHost: unprotectedPostgresHost,
  tlsOption: 'sslmode=verify-full',

  checkServer: checkPostgresServer,

  schema: {
    keyType: () => 'text collate "C"',
    jsonType: 'text',
    tableEnd: () => '',
    indexOf: (condition) => ` where ${condition}`,
    isTransactional: true,
    now: 'floor(extract(epoch from now()) * 1000)',
  },
  // As a subquery it is evaluated once a statement, so that an index can be searched by it.
  time: '(select floor(extract(epoch from clock_timestamp()) * 1000)::bigint)',
  hasTable: (table) => ({
    sql: 'select from pg_class where relname = $1 and pg_table_is_visible(oid)',
    parameters: [table],
  }),
  changeSchema: (database, change) =>
    database.transaction(async (db) => {
      await database.run({ sql: `select pg_advisory_xact_lock(${MIGRATION_LOCK})` }, db);
      await change((statement) => database.run(statement, db));
    }),

  // The database's own default may be a stricter isolation.
  begin: [{ sql: 'begin isolation level read committed' }],
  limits: [
    {
      sql: `select ${Object.entries(SESSION_LIMITS)
        .map(([name, ms]) => `set_config('${name}', '${ms}', true)`)
        .join(', ')}`,
    },
  ],
  // A deadlock; or a single statement, outside of `begin`, where the default isolation is a stricter one.
  isBusy: (error) => ['40P01', '40001'].includes(codeOf(error)),
  rowLock: (table) => `for update of "${table}" skip locked`,
  fanOutLock: (account) => ({
    sql: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
    parameters: [`card_payment ${account}`],
  }),

  unlessTaken: 'on conflict do nothing',
  orOverwrite: (primaryKey, column) =>
    `on conflict (${primaryKey.join(', ')}) do update set ${column} = excluded.${column}`,
  asTexts: null,
  writes: async () => ({ ...(await import('./ledger-writes.js')), ...(await import('./outbox-writes.js')) }),

  failures: [
    [/^(ECONN|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT|EPIPE)/, 'does not answer; is it running, and reachable from here?'],
    [/^28/, 'refuses this user or password'],
    [/^3D000$/, 'has no such database'],
    [/^42501$/, 'does not let this user make, read or write the payment tables'],
    [/^25006$/, 'is read-only; is it a standby?'],
    [/^53300$/, 'has too many connections already'],
    [/^55P03$/, 'is being changed by another process that does not finish; try again'],
    [/^57014$/, 'answers too slowly'],
    [/^57P03$/, 'is starting up or shutting down'],
    [/^EPROTO$|PROTOCOL_VERSION|HANDSHAKE_FAILURE/, 'does not agree on TLS: 1.2 or 1.3, with forward secrecy'],
    [/CERT|SELF_SIGNED|TLS|SSL/, 'has a TLS certificate that cannot be trusted'],
  ],
  uncodedFailures: [[/timeout/i, 'ETIMEDOUT']],
} satisfies SqlEngine;

/**
 * The host that pg reaches without TLS, or without checking the server's certificate; null if it checks it, and for a
 * Unix socket. As pg does, this reads the URL, and the variables for what the URL does not say.
 */
function unprotectedPostgresHost(url: string, environment: Environment): string | null {
  if (!URL.canParse(url)) return null;
  const { hostname, searchParams } = new URL(url);
  const host = searchParams.get('host') || decoded(hostname) || environment['PGHOST'] || 'localhost';
  return host.startsWith('/') || isProtected(searchParams, environment) ? null : host;
}

function isProtected(query: URLSearchParams, environment: Environment): boolean {
  if (looksAtNoCertificate(environment)) return false;
  const mode = query.get('sslmode');
  if (mode !== null && mode !== '') {
    const isUnchecked = query.get('uselibpqcompat') === 'true' && UNCHECKED_MODES.has(mode);
    return TLS_MODES.has(mode) && (!isUnchecked || (mode === 'require' && query.has('sslrootcert')));
  }
  if (TLS_FILES.some((name) => query.get(name)) || query.get('sslnegotiation') === 'direct') return true;
  const ssl = query.get('ssl');
  if (ssl !== null) return ssl === 'true' || ssl === '1';
  return TLS_MODES.has(environment['PGSSLMODE'] ?? '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
