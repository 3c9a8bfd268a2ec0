import { MysqlDialect } from 'kysely';
import mysql from 'mysql2';
import { mysqlPaymentStore } from '../../../../../lib/store/sql/index.js';
import { type MariaDb, startMariaDb } from '../../../../services/mariadb.js';
import { describeLeases } from '../../lease-cases.js';
import { describeLeaseRaces } from '../../lease-races.js';
import { isAnyoneWaiting } from './sessions.js';

let mariadb: MariaDb;

describe('mysql leases', () => {
  beforeAll(async () => {
    mariadb = await startMariaDb();
  });
  afterAll(() => mariadb.stop());

  describeLeases('mariadb', () => {
    return new MysqlDialect({ pool: async () => mysql.createPool(await mariadb.createDatabase()) });
  });

  describeLeaseRaces({
    async connect() {
      const url = await mariadb.createDatabase();
      return [mysql.createPool(url), mysql.createPool(url)] as const;
    },
    open: (pool: mysql.Pool, clock) => mysqlPaymentStore({ pool, clock }),
    isAnyoneWaiting: (pool) => isAnyoneWaiting(pool.promise()),
    end: (pool) => pool.promise().end(),
    connection: mysql.Connection.prototype,
  });
});
