import type { PaymentClock } from '../../../../../lib/payment/clock.js';
import { postgresPaymentStore } from '../../../../../lib/store/sql/index.js';
import { describePaymentStore } from '../../../../../lib/testing/index.js';
import { postgres18, type Postgres, startPostgres } from '../../../../services/postgres.js';
import { sampling } from '../../../../rigs/extent.js';

let postgres: Postgres;

describe('postgres 18', () => {
  beforeAll(async () => {
    postgres = await startPostgres({}, { binaries: postgres18() });
  });
  afterAll(() => postgres.stop());

  describePaymentStore('PostgreSQL 18', { create: open, another: (_store, clock) => open(clock) }, sampling(5));
});

async function open(clock: PaymentClock) {
  const store = postgresPaymentStore({ connectionString: postgres.url, clock });
  await store.open();
  return store;
}
