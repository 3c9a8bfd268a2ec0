import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { startMariaDb } from '../services/mariadb.js';
import { patientStore } from './mariadb-shops.js';
import { describeVanished } from './vanished.js';

describeVanished({
  start: startMariaDb,
  async connect(url) {
    const connection = await createConnection(url);
    return {
      run: async (sql) => (await connection.query<RowDataPacket[]>(sql))[0],
      end: () => Promise.resolve(connection.destroy()),
    };
  },
  patientStore,
  limitedPools: ['own'],
  fanOutLock: (account, handler) =>
    `select 1 from card_payment_handler where account = '${account}' and handler_id = '${handler}' for update`,
  nextFanOut: 'waits',
  migrationLock: {
    before:
      'create table card_payment_migration_lock (id integer primary key, owner varchar(100), taken_at datetime(6))',
    sql: `insert into card_payment_migration_lock values (1, 'vanished', now())`,
    name: 'MariaDB',
  },
  waitingPurge: `select 1 from information_schema.processlist where db = database() and info like 'delete%history%'`,
});
