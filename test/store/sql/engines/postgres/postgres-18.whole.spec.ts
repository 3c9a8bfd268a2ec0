import type { PaymentClock } from '../../../../../lib/runtime/clock.js';
import { postgresPaymentStore } from '../../../../../lib/store/sql/index.js';
import { postgres18, type Postgres, startPostgres } from '../../../../services/postgres.js';
import { describePaymentStore } from '../../../contract/payment-store-contract.js';

let postgres: Postgres;

describe('postgres 18', () => {
  beforeAll(async () => {
    postgres = await startPostgres({}, { binaries: postgres18() });
  });
  afterAll(() => postgres.stop());

  describePaymentStore('PostgreSQL 18', { create: open, another: (_store, clock) => open(clock) }, 5);
});

async function open(clock: PaymentClock) {
  const store = postgresPaymentStore({ connectionString: postgres.url, clock });
  await store.open();
  return store;
}
