import { postgresPaymentStore } from '../../../lib/store/sql/index.js';
import { describePaymentStore, type TestClock } from '../../../lib/testing/index.js';
import { type Postgres, startPostgres } from '../../services/postgres.js';
import { once } from './once.js';

// One server for all changes: it ends with this process.
const postgres = await once<Postgres>('postgres', startPostgres);

async function open(clock: TestClock) {
  const store = postgresPaymentStore({ connectionString: postgres.url, clock });
  await store.open();
  return store;
}

describePaymentStore('PostgreSQL', { create: open, another: (_store, clock) => open(clock) });
