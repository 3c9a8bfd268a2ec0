import * as kysely from 'kysely';
import { type PaymentTables, postgresPaymentStore, SqlPaymentStore } from 'nestjs-card-payment/sql';
import pg from 'pg';
import { postgresEngine, postgresPoolAccess } from '../../lib/store/sql/engines/postgres.js';
import { type StoreOfPool, type Pool, SHORT_LIMITS } from './frozen.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

/** A store as the module makes it from a URL or from a given pool, but with short limits. */
export function shortLimitStore(connectionString: string, pool: Pool): PaymentStore {
  const connections = new pg.Pool({ connectionString });
  connections.on('error', () => undefined);
  const { dialect } = postgresPoolAccess(kysely, connections, SHORT_LIMITS);
  const settings = { hasLimitedSessions: () => pool === 'own', isOwner: true };
  return new SqlPaymentStore(new kysely.Kysely<PaymentTables>({ dialect }), postgresEngine, settings);
}

/** A store with the limits of the module itself. */
export function longLimitStore(connectionString: string, pool: Pool): StoreOfPool {
  if (pool === 'own') return { store: postgresPaymentStore({ connectionString }), end: () => Promise.resolve() };
  const connections = new pg.Pool({ connectionString });
  connections.on('error', () => undefined);
  return { store: postgresPaymentStore({ pool: connections }), end: () => connections.end() };
}
