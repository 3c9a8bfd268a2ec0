import pg from 'pg';
import type { PaymentClock } from '../../../../../lib/runtime/clock.js';
import { postgresPaymentStore } from '../../../../../lib/store/sql/index.js';
import { at, StoreTrial } from '../../../contract/store-trial.js';
import { TestClock } from '../../../../../lib/testing/index.js';
import { type Postgres, startPostgres } from '../../../../services/postgres.js';
import { describeLikeMemory } from '../../../like-memory.js';
import { describePaymentStore } from '../../../contract/payment-store-contract.js';

let postgres: Postgres;

describe('postgres payment store', () => {
  beforeAll(async () => {
    postgres = await startPostgres();
  });

  afterAll(() => postgres.stop());

  describePaymentStore('PostgreSQL', { create: open, another: (_store, clock) => open(clock) });
  describeLikeMemory('PostgreSQL', open);

  test('payments in a state come the oldest first, however the server reads the table', async () => {
    const connectionString = await postgres.createDatabase();
    const admin = new pg.Client({ connectionString });
    await admin.connect();
    const name = new URL(connectionString).pathname.slice(1);
    for (const scan of ['indexscan', 'indexonlyscan', 'bitmapscan']) {
      await admin.query(`alter database "${name}" set enable_${scan} = off`);
    }
    await admin.end();
    const store = postgresPaymentStore({ connectionString });
    await store.open();
    const trial = new StoreTrial(store, store, new TestClock());
    const records = [];
    for (const ms of [30, 20, 10]) records.unshift(await trial.insert({ state: 'unknown', createdAt: at(ms) }));
    expect(
      await store.list({ account: trial.account, type: 'payment', states: ['unknown'], after: null, limit: 2 }),
    ).toEqual(records.slice(1).reverse());
    await store.close();
  });
});

async function open(clock: PaymentClock) {
  const store = postgresPaymentStore({ connectionString: postgres.url, clock });
  await store.open();
  return store;
}
