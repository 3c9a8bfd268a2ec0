import pg from 'pg';
import type { PaymentRecord } from '../../../../../lib/payment/payment.js';
import type { PaymentClock } from '../../../../../lib/runtime/clock.js';
import { postgresPaymentStore } from '../../../../../lib/store/sql/index.js';
import { at, StoreTrial } from '../../../contract/store-trial.js';
import { TestClock } from '../../../../../lib/testing/index.js';
import { until } from '../../../../services/until.js';
import { type Postgres, startPostgres } from '../../../../services/postgres.js';
import { describeLikeMemory } from '../../../like-memory.js';
import { describePaymentStore } from '../../../contract/payment-store-contract.js';

/** Sessions that wait for a lock. */
const WAITING = `select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;

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
    expect(await store.listByState(trial.account, 'payment', ['unknown'], 2)).toEqual(records.slice(0, 2));
    await store.close();
  });

  const LOST: readonly (readonly [
    work: string,
    table: string,
    run: (of: StoreTrial, record: PaymentRecord) => unknown,
  ])[] = [
    ['at its history', 'card_payment_version', (trial, record) => trial.publish(record, 'failed', at(1))],
    ['at its event', 'card_payment_delivery', (trial, record) => trial.publish(record, 'failed', at(1))],
    ['while it reads', 'card_payment_version', (trial, record) => trial.find(record)],
  ];

  test.each(LOST)('a connection that the server ends %s undoes what ran on it, and nothing else', async (...row) => {
    const [, table, run] = row;
    const connectionString = await postgres.createDatabase();
    const store = postgresPaymentStore({ connectionString });
    await store.open();
    const trial = new StoreTrial(store, store, new TestClock());
    const record = await trial.insert();

    const other = new pg.Client({ connectionString });
    await other.connect();
    await other.query('begin');
    await other.query(`lock table ${table}`);
    const lost = Promise.resolve(run(trial, record)).then(
      () => 'done',
      // It is not used again, not even at once.
      () => trial.counts(),
    );
    const end = WAITING.replace('select pid', 'select pg_terminate_backend(pid)');
    await until(async () => (await lookAnew(other, end)) !== 0);
    await other.query('rollback');
    expect(await lost).toMatchObject({ waitingEvents: 0 });
    await other.end();

    await trial.expectStored(record);
    await trial.publish(record, 'failed', at(1));
    await store.close();
  });

  test('a database whose default isolation is a stricter one is used as any other', async () => {
    const connectionString = await postgres.createDatabase();
    const other = new pg.Client({ connectionString });
    await other.connect();
    const name = new URL(connectionString).pathname.slice(1);
    await other.query(`alter database ${name} set default_transaction_isolation = 'serializable'`);
    const store = postgresPaymentStore({ connectionString });
    await store.open();
    const trial = new StoreTrial(store, store, new TestClock());
    const record = await trial.insert();
    await other.query('begin');
    await other.query('update card_payment set due_at = 1');
    const replaced = store.replace(trial.next(record), record);
    await until(async () => (await lookAnew(other, WAITING)) !== 0);
    await other.query('commit');
    expect(await replaced).toBe('replaced');
    await other.end();
    await store.close();
  });

  test('a pool that was given stays open', async () => {
    const pool = new pg.Pool({ connectionString: await postgres.createDatabase() });
    const store = postgresPaymentStore({ pool });
    await store.open();
    await store.close();
    expect((await pool.query<{ count: string }>('select count(*) from card_payment')).rows).toEqual([{ count: '0' }]);
    await pool.end();
  });
});

async function open(clock: PaymentClock) {
  const store = postgresPaymentStore({ connectionString: postgres.url, clock });
  await store.open();
  return store;
}

/** Inside a transaction, PostgreSQL shows the sessions as they were at the first look. @returns how many rows it finds */
async function lookAnew(client: pg.Client, query: string): Promise<number> {
  await client.query('select pg_stat_clear_snapshot()');
  return (await client.query(query)).rowCount ?? 0;
}
