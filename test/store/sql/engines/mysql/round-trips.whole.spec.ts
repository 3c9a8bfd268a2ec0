import { jest } from '@jest/globals';
import mysql from 'mysql2';
import type { PaymentStore } from '../../../../../lib/store/payment-store.js';
import { mysqlPaymentStore } from '../../../../../lib/store/sql/index.js';
import { at, StoreTrial } from '../../../../../lib/testing/contract/store-trial.js';
import { TestClock } from '../../../../../lib/testing/index.js';
import { startGalera } from '../../../../services/galera.js';
import { type MariaDb, startMariaDb } from '../../../../services/mariadb.js';
import { livePayment } from '../../../payment-life.js';

let mariadb: MariaDb;
let connectionString: string;

describe('round trips', () => {
  beforeAll(async () => {
    mariadb = await startMariaDb();
  });
  beforeEach(async () => {
    connectionString = await mariadb.createDatabase();
  });
  afterAll(() => mariadb.stop());

  /** In several statements, the others; the first two of each begin the transaction over a given pool, and the last ends it. */
  const LATER = { find: 1, 'fan out': 9, lease: 6 };

  test('over its own connections each transition and each acknowledgement is one round trip', async () => {
    const store = mysqlPaymentStore({ connectionString });
    await store.open();
    expect(await roundTripsOf(store)).toEqual({ open: 1, claim: 1, settle: 1, acknowledge: 1, pin: 1, ...LATER });
    await store.close();
  });

  // After a conflict Galera may go on with the statements that follow in the same query, outside the transaction.
  test('on a Galera cluster they are one for each statement', async () => {
    const galera = await startGalera();
    const [url = ''] = await galera.createDatabase();
    const store = mysqlPaymentStore({ connectionString: url });
    await store.open();
    expect(await roundTripsOf(store)).toEqual({
      open: 6,
      claim: 9,
      settle: 10,
      acknowledge: 4,
      pin: 8,
      ...LATER,
    });
    await store.close();
    await galera.stop();
  });

  test('over a given pool they are several', async () => {
    const pool = mysql.createPool(connectionString);
    const store = mysqlPaymentStore({ pool });
    await store.open();
    expect(await roundTripsOf(store)).toEqual({
      find: 1,
      open: 7,
      claim: 10,
      settle: 11,
      'fan out': 10,
      lease: 7,
      acknowledge: 5,
      pin: 9,
    });
    await new Promise((resolve) => pool.end(resolve));
  });
});

/** What the driver asks the server from now on; each question waits for its answer. */
function spyOnQueries(): string[] {
  const asked: string[] = [];
  const connection = mysql.Connection.prototype as { query(...given: unknown[]): unknown };
  const { query } = connection;
  jest.spyOn(connection, 'query').mockImplementation(function (this: mysql.Connection, ...given) {
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
