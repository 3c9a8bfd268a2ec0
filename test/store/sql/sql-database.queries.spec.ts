import Database from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { SqlDatabase } from '../../../lib/store/sql/sql-database.js';
import { paymentSchema } from '../../../lib/store/sql/payment-schema.js';
import type { PaymentDb, PaymentTables } from '../../../lib/store/sql/payment-tables.js';
import { sqliteEngine } from '../../../lib/store/sql/engines/sqlite/sqlite.engine.js';

let file: Database.Database;
let db: PaymentDb;

describe('sql database queries', () => {
  beforeEach(() => {
    file = new Database(':memory:');
    file.exec(paymentSchema('sqlite'));
    db = new Kysely<PaymentTables>({ dialect: new SqliteDialect({ database: file }) });
  });

  afterEach(() => db.destroy());

  test.each([
    ['another order', ['payment.failed', 'one']],
    ['one value that is another', ['one', 'payment.review']],
    ['one value more', ['one', 'payment.failed', 'more']],
    ['one value less', ['one']],
  ])('refuses values that are not those of the text: %s', (_name, values) => {
    const select = () =>
      new SqlDatabase(db, sqliteEngine).query('select', values, (one: PaymentDb) =>
        one.selectFrom('card_payment_handler').where('account', '=', 'one').where('type', '=', 'payment.failed'),
      );
    expect(select).toThrow('The values of the query "select" are not in its order.');
  });

  test('builds a query once, and runs it with the values of each time', async () => {
    const database = new SqlDatabase(db, sqliteEngine);
    let built = 0;
    const select = (account: string) => {
      const query = database.query('select', [account], (one: PaymentDb) => {
        built += 1;
        return one.selectFrom('card_payment_handler').where('account', '=', account).select('type');
      });
      return db.executeQuery(query);
    };
    file.exec(
      `insert into card_payment_handler values ('one', 'payment.failed', 'h', 0), ('two', 'payment.review', 'h', 0)`,
    );
    expect((await select('one')).rows).toEqual([{ type: 'payment.failed' }]);
    expect((await select('two')).rows).toEqual([{ type: 'payment.review' }]);
    expect(built).toBe(1);
  });
});
