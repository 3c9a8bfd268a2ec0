import type { PaymentClock } from '../../../../../lib/runtime/clock.js';
import { openedStoreAt } from '../../../../rigs/shared-stores.js';
import { postgres18, type Postgres, startPostgres } from '../../../../services/postgres.js';
import { describePaymentStore } from '../../../contract/payment-store-contract.js';

describe('postgres 18', () => {
  let postgres: Postgres;
  const open = (clock: PaymentClock) => openedStoreAt(postgres.url, { clock });

  beforeAll(async () => {
    postgres = await startPostgres({}, { binaries: postgres18() });
  });
  afterAll(() => postgres.stop());

  describePaymentStore('PostgreSQL 18', { create: open, another: open }, 5);
});
