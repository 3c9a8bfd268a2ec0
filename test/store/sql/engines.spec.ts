import { sqlPaymentStore } from '../../../lib/store/sql/index.js';
import Database from 'better-sqlite3';
import { type Driver, Kysely, SqliteDialect } from 'kysely';
import type { PaymentTables } from '../../../lib/store/sql/tables.js';

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
