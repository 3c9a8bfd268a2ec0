import { Kysely, SqliteDialect } from 'kysely';
import type { PaymentClock } from '../../../lib/runtime/clock.js';
import { type SqlDialect, sqlPaymentStore } from '../../../lib/store/sql/index.js';
import { sample } from '../../rigs/extent.js';
import { DIALECTS, TestDatabases } from './test-databases.js';
import { paymentStoreContract } from '../contract/payment-store-contract.js';

/** Cases of the contract suite run in one test. */
const WHOLE_SUITE_MS = 120_000;

let databases: TestDatabases;

describe('sql payment store kysely', () => {
  beforeAll(async () => {
    databases = await TestDatabases.start();
  });

  afterAll(() => databases.stop());

  describe.each(DIALECTS)('%s', (dialect) => {
    test(
      'lives beside the tables of a host, whose Kysely stays open and keeps its plugins',
      async () => {
        const { db } = await databases.make(dialect);
        await db.schema.createTable('orders').addColumn('id', 'text').addColumn('paid_at', 'bigint').execute();
        const create = async (clock?: PaymentClock) => {
          const store = sqlPaymentStore({ db, dialect, ...(clock && { clock }) });
          await store.open();
          return store;
        };
        for (const check of sample(11, paymentStoreContract)) await check.run({ create });
        await db.insertInto('orders').values({ id: 'a', paid_at: 1 }).execute();
        const rows = await db.selectFrom('orders').selectAll().execute();
        expect(rows.map((row) => Object.keys(row))).toEqual([['id', 'paidAt']]);
      },
      WHOLE_SUITE_MS,
    );
  });

  test('a database that nothing is known of is refused', () => {
    const db = new Kysely<object>({
      dialect: new SqliteDialect({ database: () => Promise.reject(new Error('unused')) }),
    });
    expect(() => sqlPaymentStore({ db, dialect: 'oracle' as SqlDialect })).toThrow(
      'the dialect of a SQL store is sqlite, postgres',
    );
  });
});
