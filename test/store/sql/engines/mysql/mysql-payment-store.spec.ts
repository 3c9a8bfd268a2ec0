import { openSqlStore } from '../../../../../lib/store/sql/index.js';
import type { PaymentClock } from '../../../../../lib/runtime/clock.js';
import { type MariaDb, startMariaDb } from '../../../../services/mariadb.js';
import { describeLikeMemory } from '../../../like-memory.js';
import { describePaymentStore } from '../../../contract/payment-store-contract.js';

let mariadb: MariaDb;

describe('mysql payment store', () => {
  beforeAll(async () => {
    mariadb = await startMariaDb();
  });
  afterAll(() => mariadb.stop());

  describePaymentStore('MariaDB', { create: open, another: (_store, clock) => open(clock) });
  describeLikeMemory('MariaDB', open);
});

async function open(clock: PaymentClock) {
  const store = await openSqlStore(mariadb.url, { clock });
  await store.open();
  return store;
}
