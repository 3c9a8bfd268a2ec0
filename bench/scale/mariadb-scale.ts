import mysql from 'mysql2';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { mysqlPaymentStore } from 'nestjs-card-payment/sql';
import { startMariaDb } from '../../test/services/mariadb.js';
import { fill } from './mariadb-fill.js';
import type { ReadsByName, ScaleServer } from './scale-server.js';

/** Durable, as in production, with room for filling the tables quickly; `userstat` counts reads by index. */
const SETTINGS = {
  debug_no_sync: '0',
  innodb_flush_log_at_trx_commit: '1',
  innodb_buffer_pool_size: '1G',
  innodb_log_file_size: '1G',
  innodb_log_buffer_size: '64M',
  userstat: '1',
};

const INDEX_READS = `
  select concat(table_name, '.', index_name) as name, cast(rows_read as char) as count
  from information_schema.index_statistics where table_schema = database()`;
const TABLE_READS = `
  select table_name as name, cast(rows_read as char) as count
  from information_schema.table_statistics where table_schema = database()`;
const SIZES = `
  select concat(table_name, '.', index_name) as name, cast(stat_value * @@innodb_page_size as char) as count
  from mysql.innodb_index_stats where database_name = database() and stat_name = 'size'`;

/** Counts rows and entries of indexes that are read: MariaDB counts pages for the whole server only. */
export async function mariadbScale(): Promise<ScaleServer> {
  const mariadb = await startMariaDb(SETTINGS);
  return {
    unit: 'rows and entries',
    async create() {
      const url = await mariadb.createDatabase();
      const store = mysqlPaymentStore({ connectionString: url });
      await store.open();
      await store.close();
      return url;
    },
    async drop(url) {
      const connection = await createConnection(mariadb.url);
      await connection.query(`drop database ${new URL(url).pathname.slice(1)}`);
      await connection.end();
    },
    fill,
    storeOf: (connectionString, maxConnections) => mysqlPaymentStore({ connectionString, maxConnections }),
    timedStoreOf(uri, used) {
      const pool = mysql.createPool({ uri, connectionLimit: 2 });
      const acquired = new WeakMap<object, number>();
      pool.on('acquire', (connection) => void acquired.set(connection, performance.now()));
      pool.on('release', (connection) => used(performance.now() - acquired.get(connection)!));
      return { store: mysqlPaymentStore({ pool }), end: () => pool.promise().end() };
    },
    async watch(url) {
      const store = mysqlPaymentStore({ connectionString: url, maxConnections: 1 });
      await store.open();
      const own = await createConnection(url);
      const counts = async (text: string): Promise<ReadsByName> => {
        const [rows] = await own.query<RowDataPacket[]>(text);
        return new Map(rows.map(({ name, count }) => [String(name), Number(count)]));
      };
      const analyze = async () => {
        const [rows] = await own.query<RowDataPacket[]>('show tables');
        await own.query(`analyze table ${rows.map((row) => String(Object.values(row)[0])).join(', ')}`);
      };
      let before = await readsOf(counts);
      return {
        store,
        async sizes() {
          await analyze();
          return counts(SIZES);
        },
        analyze,
        reads: () => readsOf(counts),
        async searched() {
          const after = await readsOf(counts);
          const names = [...after].filter(([name, count]) => count > (before.get(name) ?? 0)).map(([name]) => name);
          before = after;
          return names.sort();
        },
        async end() {
          await own.end();
          await store.close();
        },
      };
    },
    stop: () => mariadb.stop(),
  };
}

/** What was read by each index, and of each table without one, with a `!`. */
async function readsOf(counts: (text: string) => Promise<ReadsByName>): Promise<ReadsByName> {
  const reads = new Map(await counts(INDEX_READS));
  for (const [table, count] of await counts(TABLE_READS)) {
    const byIndex = [...reads].filter(([name]) => name.startsWith(`${table}.`)).map(([, read]) => read);
    const rest = count - byIndex.reduce((sum, read) => sum + read, 0);
    if (rest > 0) reads.set(`!${table}`, rest);
  }
  return reads;
}
