import { jest } from '@jest/globals';
import pg from 'pg';
import type { PaymentRecord } from '../../../../../lib/payment/payment.js';
import type { PaymentStore } from '../../../../../lib/store/payment-store.js';
import { postgresPaymentStore, type SqlPaymentStore } from '../../../../../lib/store/sql/index.js';
import { at, StoreTrial } from '../../../../../lib/testing/contract/store-trial.js';
import { TestClock } from '../../../../../lib/testing/index.js';
import { type PgBouncer, startPgBouncer } from '../../../../services/pgbouncer.js';
import { type Postgres, startPostgres } from '../../../../services/postgres.js';
import { CALLS, livePayment } from '../../../payment-life.js';

const TABLES = ['', '_reference_lock', '_key', '_history', '_event'].map((name) => `card_payment${name}`);

let postgres: Postgres;
let bouncer: PgBouncer;
let connectionString: string;
const pools: pg.Pool[] = [];

describe('round trips', () => {
  beforeAll(async () => {
    postgres = await startPostgres();
    bouncer = await startPgBouncer(postgres.url);
  });

  beforeEach(async () => {
    connectionString = await postgres.createDatabase();
  });

  afterEach(async () => {
    for (const pool of pools.splice(0)) await pool.end();
  });

  afterAll(async () => {
    await bouncer.stop();
    await postgres.stop();
  });

  test('over its own connections each transition and each delivery is one round trip', async () => {
    const store = await opened(postgresPaymentStore({ connectionString }));
    expect(await roundTripsOf(store)).toEqual(Object.fromEntries(CALLS.map((name) => [name, 1])));
    await store.close();
  });

  /** Begin, limits in time, the statement, commit. */
  const FOUR = { ...Object.fromEntries(CALLS.map((name) => [name, 4])), find: 1 };

  test('over a given pool they are four', async () => {
    const pool = new pg.Pool({ connectionString });
    pools.push(pool);
    expect(await roundTripsOf(await opened(postgresPaymentStore({ pool })))).toEqual(FOUR);
  });

  test('behind PgBouncer they are four', async () => {
    const store = await opened(postgresPaymentStore({ connectionString: bouncer.urlOf(connectionString) }));
    expect(await roundTripsOf(store)).toEqual(FOUR);
    await store.close();
  });

  test('a statement that is refused writes nothing to any table', async () => {
    const store = await opened(postgresPaymentStore({ connectionString }));
    const pool = new pg.Pool({ connectionString });
    pools.push(pool);
    const trial = new StoreTrial(store, store, new TestClock(at(0)));
    const keys = { idempotencyKey: 'key', tokenHash: 'token', referenceLock: 'order' };
    await trial.insert(keys);
    const other = await trial.insert({ idempotencyKey: 'another' });
    const rows = () =>
      Promise.all(TABLES.map(async (table) => (await pool.query<object>(`select * from ${table}`)).rows));
    const before = await rows();
    const own = { idempotencyKey: 'own', tokenHash: 'own', referenceLock: 'own' };
    const settle = (record: PaymentRecord) => trial.event(record, 'succeeded');

    for (const [name, key] of Object.entries(keys)) {
      const record = trial.record({ ...own, [name]: key });
      expect(await store.insert(record, settle(record))).toBe(name);
    }
    const stale = trial.next({ ...other, version: 2 }, own);
    expect(await store.replace(stale, 2, settle(stale))).toBe('stale');
    const missing = trial.next(trial.record(own));
    expect(await store.replace(missing, 1, settle(missing))).toBe('stale');
    const locked = trial.next(other, { ...own, referenceLock: 'order' });
    expect(await store.replace(locked, 1, settle(locked))).toBe('locked');
    const keyed = trial.next(other, { ...own, idempotencyKey: 'key' });
    await expect(store.replace(keyed, 1, settle(keyed))).rejects.toThrow('another payment has this idempotencyKey');

    expect(await rows()).toEqual(before);
    await store.close();
  });
});

/** What the driver asks the server from now on; each question waits for its answer. */
function spyOnQueries(): string[] {
  const asked: string[] = [];
  const client = pg.Client.prototype as { query(...given: unknown[]): unknown };
  const { query } = client;
  jest.spyOn(client, 'query').mockImplementation(function (this: pg.Client, ...given) {
    asked.push(String(given[0]));
    return query.apply(this, given);
  });
  return asked;
}

/** How many round trips each call of a payment's life takes. */
async function roundTripsOf(store: PaymentStore): Promise<Record<string, number>> {
  const trial = new StoreTrial(store, store, new TestClock(at(0)));
  const handler = await trial.handler('payment.succeeded');
  await trial.replace(await trial.insert({ referenceLock: 'warm' }));
  const asked = spyOnQueries();
  const counted: Record<string, number> = {};
  await livePayment(trial, handler, async (name, call) => {
    asked.length = 0;
    const outcome = await call();
    counted[name] = asked.length;
    return outcome;
  });
  return counted;
}

async function opened(store: SqlPaymentStore): Promise<SqlPaymentStore> {
  await store.open();
  return store;
}
