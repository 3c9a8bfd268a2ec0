import * as kysely from 'kysely';
import mysql from 'mysql2';
import { mysqlPaymentStore, type PaymentTables, SqlPaymentStore } from 'nestjs-card-payment/sql';
import { mariadbEngine, mysqlPoolAccess } from '../../lib/store/sql/engines/mysql.js';
import { type StoreOfPool, type Pool, SHORT_LIMITS } from './frozen.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

/** A store as the module makes it from a URL or from a given pool, but with short limits. */
export function shortLimitStore(uri: string, pool: Pool): PaymentStore {
  const isOwn = pool === 'own';
  const connections = mysql.createPool({ uri, multipleStatements: isOwn, connectTimeout: SHORT_LIMITS.connectMs });
  if (isOwn) {
    connections.on('connection', (connection) =>
      connection.query('set session transaction isolation level read committed', () => undefined),
    );
  }
  const { dialect } = mysqlPoolAccess(kysely, connections, SHORT_LIMITS);
  const settings = { hasLimitedSessions: () => isOwn, isOwner: true };
  const db = new kysely.Kysely<PaymentTables>({ dialect });
  return new SqlPaymentStore(db, mariadbEngine, settings);
}

/** A store with the limits of the module itself. */
export function longLimitStore(connectionString: string, pool: Pool): StoreOfPool {
  if (pool === 'own') return { store: mysqlPaymentStore({ connectionString }), end: () => Promise.resolve() };
  const connections = mysql.createPool(connectionString);
  return { store: mysqlPaymentStore({ pool: connections }), end: () => connections.promise().end() };
}
