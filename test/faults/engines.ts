import * as kysely from 'kysely';
import mysql from 'mysql2';
import { type PaymentTables, SqlPaymentStore } from 'nestjs-card-payment/sql';
import pg from 'pg';
import type { SqlEngine } from '../../lib/store/sql/engine.js';
import { mariadbEngine, mysqlPoolAccess } from '../../lib/store/sql/engines/mysql.js';
import { postgresEngine, postgresPoolAccess } from '../../lib/store/sql/engines/postgres.js';
import { inWhole } from '../rigs/extent.js';
import { SQL_SERVERS, type SqlServer } from '../rigs/sql-servers.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

export const POOLS = ['own', 'given'] as const;
/** How a store is connected. */
type Pool = (typeof POOLS)[number];

export type EngineName = keyof typeof ENGINES;

interface Engine {
  readonly engine: SqlEngine;
  /** A pool as the module makes it from a URL or as it is given. */
  access(url: string, pool: Pool): { readonly dialect: kysely.Dialect };
  /** Pools whose sessions the server itself ends when their host has vanished. */
  readonly limitedPools: readonly Pool[];
}

/** Shorter than the module's own, for tests of what happens after a time-out. */
const SHORT_LIMITS = { connectMs: 2_000, queryMs: 1_000, useMs: 3_000, pingMs: 500 };

export const ENGINES = {
  PostgreSQL: {
    engine: postgresEngine,
    access: (connectionString) => postgresPoolAccess(kysely, new pg.Pool({ connectionString }), SHORT_LIMITS),
    limitedPools: POOLS,
  },
  MariaDB: {
    engine: mariadbEngine,
    access(uri, pool) {
      const isOwn = pool === 'own';
      const connections = mysql.createPool({ uri, multipleStatements: isOwn, connectTimeout: SHORT_LIMITS.connectMs });
      if (isOwn) {
        connections.on('connection', (connection) =>
          connection.query('set session transaction isolation level read committed', () => undefined),
        );
      }
      return mysqlPoolAccess(kysely, connections, SHORT_LIMITS);
    },
    limitedPools: ['own'],
  },
} satisfies Readonly<Record<string, Engine>>;

/** What is tried in the short tests of databases that fall silent, and in the whole. */
export const TRIED: readonly EngineName[] = inWhole(['PostgreSQL', 'MariaDB'], ['PostgreSQL']);

/** A store as the module makes it from a URL or from a given pool, but with {@link SHORT_LIMITS}. */
export function shortLimitStore(name: EngineName, url: string, pool: Pool): PaymentStore {
  const { engine, access }: Engine = ENGINES[name];
  const db = new kysely.Kysely<PaymentTables>({ dialect: access(url, pool).dialect });
  return new SqlPaymentStore(db, engine, { hasLimitedSessions: () => pool === 'own', isOwner: true });
}

/** A store with the limits of the module itself. */
interface StoreOfPool {
  readonly store: PaymentStore;
  /** Ends the pool, if it was given. */
  readonly end: () => Promise<void>;
}

export function longLimitStore(name: EngineName, url: string, pool: Pool): StoreOfPool {
  const server: SqlServer = SQL_SERVERS[name];
  if (pool === 'own') return { store: server.store(url), end: () => Promise.resolve() };
  const given = server.pool(url);
  return { store: given.store(), end: () => given.end() };
}
