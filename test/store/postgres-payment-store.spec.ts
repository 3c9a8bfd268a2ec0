import { postgresPaymentStore } from '../../lib/store/sql/index.js';
import { describePaymentStore } from '../../lib/testing/index.js';
import { type Postgres, startPostgres } from '../services/postgres.js';

let postgres: Postgres;

beforeAll(async () => {
  postgres = await startPostgres();
});

afterAll(() => postgres.stop());

async function open() {
  const store = postgresPaymentStore({ connectionString: postgres.url });
  await store.open();
  return store;
}

describePaymentStore('PostgreSQL', { create: open, another: open });
