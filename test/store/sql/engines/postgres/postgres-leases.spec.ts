import { jest } from '@jest/globals';
import { Kysely, PostgresDialect } from 'kysely';
import { EventEmitter, once } from 'node:events';
import pg from 'pg';
import { postgresPaymentStore } from '../../../../../lib/store/sql/index.js';
import { SqlOutbox } from '../../../../../lib/store/sql/sql-outbox.js';
import type { PaymentTables } from '../../../../../lib/store/sql/payment-tables.js';
import { postgresEngine } from '../../../../../lib/store/sql/engines/postgres/postgres.engine.js';
import { SqlDatabase } from '../../../../../lib/store/sql/sql-database.js';
import { at, StoreTrial } from '../../../../../lib/testing/contract/store-trial.js';
import { TestClock } from '../../../../../lib/testing/index.js';
import { type Postgres, startPostgres } from '../../../../services/postgres.js';
import { until } from '../../../../services/until.js';
import { describeLeases } from '../../lease-cases.js';

const [FIRST, SECOND] = ['payment.unknown', 'payment.succeeded'] as const;
/** Sessions that wait for a lock. */
const WAITING = `select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
/** Far more than are looked at to find one. */
const PAYMENTS = 30;

let postgres: Postgres;

beforeAll(async () => {
  postgres = await startPostgres();
});

afterAll(() => postgres.stop());

describeLeases('postgres', () => {
  return new PostgresDialect({ pool: async () => new pg.Pool({ connectionString: await postgres.createDatabase() }) });
});

test('one whose earlier one is acknowledged while it is being put off comes at once', async () => {
  const connectionString = await postgres.createDatabase();
  const pool = new pg.Pool({ connectionString });
  const clock = new TestClock(at(0));
  const store = postgresPaymentStore({ connectionString, clock });
  await store.open();
  const trial = new StoreTrial(store, postgresPaymentStore({ pool, clock }), clock);
  const handler = await trial.handler(FIRST, SECOND);
  const firsts: string[] = [];
  for (let index = 0; index < PAYMENTS; index += 1) {
    const { record, event } = await trial.publish(await trial.insert(), 'unknown', at(1));
    firsts.push(event.eventId);
    await trial.publish(record, 'succeeded', at(2));
  }
  await trial.fanOut();

  const commit = holdUpCommit();
  const slowly = trial.lease(handler, { types: [SECOND], limit: 1, store: trial.second });
  await commit.came;
  let isAcknowledged = false;
  const acknowledged = Promise.all(firsts.map((id) => store.acknowledge(trial.account, handler, id))).then(
    () => (isAcknowledged = true),
  );
  await until(async () => isAcknowledged || (await pool.query(WAITING)).rowCount !== 0);
  commit.goOn();
  await acknowledged;
  const leasedNow = [...(await slowly), ...(await trial.lease(handler, { types: [SECOND] }))];
  expect(leasedNow).toHaveLength(PAYMENTS);
  await store.close();
  await pool.end();
});

test('deliveries that are put off without an end keep no one for ever, and nothing is leased', async () => {
  let looks = 0;
  const statement = () => {
    if ((looks += 1) > 100) throw new Error('still looking');
    return Promise.resolve({ rows: [{ put_off: 1, event_id: null }] });
  };
  const db = new Kysely<PaymentTables>({ dialect: new PostgresDialect({ pool: new pg.Pool() }) });
  const database = new SqlDatabase(db, postgresEngine);
  jest.spyOn(database, 'statement').mockImplementation(statement);
  const outbox = new SqlOutbox(database, postgresEngine.writes);
  const request = { account: 'a', handlerId: 'h', types: [SECOND], lease: 'l', leaseMs: 1, limit: 1 };
  expect(await outbox.leaseDeliveries(request)).toEqual([]);
  expect(looks).toBe(50);
  expect(await outbox.leaseDeliveries({ ...request, types: [] })).toEqual([]);
  expect(looks).toBe(50);
});

/** Keeps the first commit that any connection sends from now on from being sent. */
function holdUpCommit(): { readonly came: Promise<void>; readonly goOn: () => void } {
  const came = new EventEmitter();
  const goOn = new EventEmitter();
  const client = pg.Client.prototype as { query(...given: unknown[]): unknown };
  const { query } = client;
  const spy = jest.spyOn(client, 'query').mockImplementation(function (this: pg.Client, ...given) {
    if (given[0] !== 'commit') return query.apply(this, given);
    spy.mockRestore();
    came.emit('it');
    return once(goOn, 'it').then(() => query.apply(this, given));
  });
  return { came: once(came, 'it').then(() => undefined), goOn: () => void goOn.emit('it') };
}
