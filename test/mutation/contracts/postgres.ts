import * as kysely from 'kysely';
import pg from 'pg';
import { postgresPaymentStore, SqlPaymentStore } from '../../../lib/store/sql/index.js';
import type { PaymentTables } from '../../../lib/store/sql/tables.js';
import { postgresEngine, postgresPoolAccess, SESSION_LIMITS } from '../../../lib/store/sql/engines/postgres.js';
import type { TestClock } from '../../../lib/testing/index.js';
import { startPostgres } from '../../services/postgres.js';
import { once } from './once.js';
import { describePaymentStore } from '../../store/contract/payment-store-contract.js';

/**
 * One server for all changes, which ends with this process. The unchanged code makes the tables once: other tests cover
 * that.
 */
const connectionString = await once('postgres', async () => {
  const { url } = await startPostgres({ synchronous_commit: 'off', autovacuum: 'off' });
  const store = postgresPaymentStore({ connectionString: url });
  await store.open();
  await store.close();
  return url;
});

// Connections are kept from case to case: opening them would take longer than all the rest.
const pools = [1, 2].map(() => new pg.Pool({ connectionString, ...SESSION_LIMITS }).on('error', () => undefined));

const storeOn = (pool: pg.Pool | undefined, clock: TestClock) => {
  const db = new kysely.Kysely<PaymentTables>({ dialect: postgresPoolAccess(kysely, pool!).dialect });
  return Promise.resolve(new SqlPaymentStore(db, postgresEngine, { hasLimitedSessions: () => true, clock }));
};

describePaymentStore('PostgreSQL', {
  create: (clock) => storeOn(pools[0], clock),
  another: (clock) => storeOn(pools[1], clock),
});
