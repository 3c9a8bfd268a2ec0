import mysql from 'mysql2';
import { createPool as promisePool } from 'mysql2/promise';
import type { PaymentClock } from '../../../../../lib/runtime/clock.js';
import { mysqlPaymentStore } from '../../../../../lib/store/sql/index.js';
import { type MariaDb, startMariaDb } from '../../../../services/mariadb.js';
import { describePaymentStore } from '../../../contract/payment-store-contract.js';

let mariadb: MariaDb;
const pools: mysql.Pool[] = [];

describe('given pool', () => {
  beforeAll(async () => {
    // The defaults of MySQL 8, and of MariaDB 11.8.
    mariadb = await startMariaDb({
      sql_mode:
        'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,HIGH_NOT_PRECEDENCE',
      transaction_isolation: 'REPEATABLE-READ',
      innodb_snapshot_isolation: 'ON',
    });
    // Options with which a shop may read its own tables.
    const uri = mariadb.url;
    pools.push(
      mysql.createPool({ uri, typeCast: false, dateStrings: true, decimalNumbers: true }),
      mysql.createPool({ uri, rowsAsArray: true, nestTables: '_', supportBigNumbers: true, bigNumberStrings: true }),
    );
  });
  afterAll(async () => {
    for (const pool of pools) await pool.promise().end();
    await mariadb.stop();
  });

  describePaymentStore(
    'MariaDB over a given pool',
    {
      create: (clock) => open(pools[0], clock),
      another: (clock) => open(pools[1], clock),
    },
    4,
  );

  test('a pool of mysql2/promise is refused, and the pool in it is taken', async () => {
    const pool = promisePool(await mariadb.createDatabase());
    expect(() => mysqlPaymentStore({ pool })).toThrow(
      'this is a pool of mysql2/promise: give its property "pool", which is one of mysql2',
    );
    const store = mysqlPaymentStore({ pool: pool.pool });
    await store.open();
    await store.close();
    await pool.end();
  });
});

/** Both pools of the suite stay open: a store closes none that it was given. */
async function open(pool: mysql.Pool | undefined, clock: PaymentClock) {
  const store = mysqlPaymentStore({ pool: pool!, clock });
  await store.open();
  return store;
}
