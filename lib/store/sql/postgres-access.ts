import type { PostgresDialect, PostgresPool } from 'kysely';
import type { Client, ClientConfig, Pool, PoolConfig } from 'pg';
import { STRONG_TLS } from '../../payment/tls.js';
import { BoundedPool } from './bounded-pool.js';
import { importDriver } from './driver-errors.js';
import type { SqlAccess } from './sql-engine.js';

export const POSTGRES_PACKAGES = 'kysely pg';

/** PostgreSQL's own limits, in milliseconds. The client's come after them, for servers that do not answer at all. */
export const SESSION_LIMITS = {
  statement_timeout: 10_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 10_000,
};

const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_DELAY_MS = 10_000;
const DEFAULT_CONNECTIONS = 10;

/** A database by its URL, with a pool of connections that is made at the first query. */
export function postgresAccess(
  Dialect: typeof PostgresDialect,
  connectionString: string,
  max = DEFAULT_CONNECTIONS,
): SqlAccess {
  let hasLimitedSessions = false;
  const pool = async (): Promise<PostgresPool> => {
    const opened = await openPool({ connectionString, max });
    hasLimitedSessions = opened.hasLimitedSessions;
    return new BoundedPool(opened.pool);
  };
  return { dialect: new Dialect({ pool }), hasLimitedSessions: () => hasLimitedSessions };
}

/** Asks for the limits when a session begins. PgBouncer refuses that: then each transaction sets them. */
async function openPool(config: PoolConfig): Promise<{ pool: Pool; hasLimitedSessions: boolean }> {
  const limited = await makePool({ ...config, ...SESSION_LIMITS });
  try {
    return { pool: limited, hasLimitedSessions: await hasLimits(limited) };
  } catch (error) {
    await limited.end();
    if (!/unsupported startup parameter/i.test(String((error as Error).message))) throw error;
    return { pool: await makePool(config), hasLimitedSessions: false };
  }
}

async function makePool(config: PoolConfig): Promise<Pool> {
  const { default: pg } = await importDriver(POSTGRES_PACKAGES, () => import('pg'));
  const pool = new pg.Pool({
    ...config,
    Client: withStrongTls(pg.Client),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
  });
  // A connection that breaks fails what runs on it and is replaced; without listeners it would also end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/**
 * Clients whose TLS, where the URL or the environment asks for it, is as strong as that of payments. pg takes all TLS
 * options from the URL, which has none for this, once it has one.
 */
function withStrongTls(Base: typeof Client): typeof Client {
  return class extends Base {
    constructor(config?: string | ClientConfig) {
      super(config);
      const { connection } = this as unknown as { readonly connection: { ssl: boolean | object } };
      if (connection.ssl === true) connection.ssl = { ...STRONG_TLS };
      // Not made anew: a client's key in it is not listed.
      else if (connection.ssl) Object.assign(connection.ssl, STRONG_TLS);
    }
  };
}

/** Whether the limits hold: a pooler may have swallowed them, and the URL may set others. */
async function hasLimits(pool: Pool): Promise<boolean> {
  const names = Object.keys(SESSION_LIMITS);
  const client = await new BoundedPool(pool).connect();
  try {
    const { rows } = await client.query<{ name: string; setting: string }>(
      'select name, setting from pg_settings where name = any($1)',
      [names],
    );
    return Object.entries(SESSION_LIMITS).every(([name, ms]) =>
      rows.some((row) => row.name === name && row.setting === String(ms)),
    );
  } finally {
    client.release();
  }
}
