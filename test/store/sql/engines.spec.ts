import { type SqlDialect, sqlPaymentStore } from '../../../lib/store/sql/index.js';
import Database from 'better-sqlite3';
import { type Driver, Kysely, SqliteDialect } from 'kysely';
import { isSqlDialect, SQL_ENGINES } from '../../../lib/store/sql/engines.js';
import type { PaymentTables } from '../../../lib/store/sql/tables.js';

test('knows the names of its engines', () => {
  for (const { name } of SQL_ENGINES) expect(isSqlDialect(name)).toBe(true);
  expect(['toString', undefined].map(isSqlDialect)).toEqual([false, false]);
  expect(new Set(SQL_ENGINES.map(({ name }) => name)).size).toBe(SQL_ENGINES.length);
});

test('a dialect that nothing is known of is refused', () => {
  const db = new Kysely<object>({
    dialect: new SqliteDialect({ database: () => Promise.reject(new Error('unused')) }),
  });
  expect(() => sqlPaymentStore({ db, dialect: 'oracle' as SqlDialect })).toThrow(
    'the dialect of a SQL store is sqlite, postgres',
  );
});

/** As drivers that answer each raw query with rows alone. */
class DialectWithoutCounts extends SqliteDialect {
  override createDriver(): Driver {
    const driver = super.createDriver();
    const acquire = driver.acquireConnection.bind(driver);
    driver.acquireConnection = async () => {
      const connection = await acquire();
      return {
        streamQuery: connection.streamQuery.bind(connection),
        executeQuery: async (query) => ({ rows: (await connection.executeQuery<never>(query)).rows }),
      };
    };
    return driver;
  }
}

test('a dialect that does not say how many rows a statement changed is refused', async () => {
  const db = new Kysely<PaymentTables>({ dialect: new DialectWithoutCounts({ database: new Database(':memory:') }) });
  await expect(sqlPaymentStore({ db, dialect: 'sqlite' }).open()).rejects.toThrow('must say how many rows');
  await db.destroy();
});
