import { sql } from 'kysely';
import { paymentSchema } from '../../../lib/store/sql/index.js';
import type { TestClock } from '../../../lib/testing/index.js';
import { sample } from '../../rigs/extent.js';
import { DIALECTS, type TestDatabase, TestDatabases } from './test-databases.js';
import { paymentStoreContract } from '../contract/payment-store-contract.js';

/** Cases of the contract suite run in one test. */
const WHOLE_SUITE_MS = 120_000;

let databases: TestDatabases;

describe('payment schema', () => {
  beforeAll(async () => {
    databases = await TestDatabases.start();
  });

  afterAll(() => databases.stop());

  describe.each(DIALECTS)('%s', (dialect) => {
    test(
      'the printed schema is the one that is made',
      async () => {
        const printed = await databases.make(dialect);
        const made = await databases.make(dialect);
        await printed.run(paymentSchema(dialect));
        const store = made.store();
        await store.open();
        await store.close();
        expect(await schemaOf(printed)).toEqual(await schemaOf(made));

        const create = async (clock: TestClock) => {
          const checked = printed.store({ migrate: false, clock });
          await checked.open();
          return checked;
        };
        for (const check of sample(11, paymentStoreContract)) await check.run({ create });
      },
      WHOLE_SUITE_MS,
    );
  });
});

/** Every table and index, as the database has them. */
async function schemaOf({ dialect, db }: TestDatabase): Promise<unknown[]> {
  const query = {
    sqlite: sql`select sql from sqlite_master where sql is not null order by name`,
    postgres: sql`select table_name, column_name, data_type, collation_name, is_nullable, null as definition
        from information_schema.columns where table_schema = 'public'
        union all select tablename, indexname, null, null, null, indexdef from pg_indexes where schemaname = 'public'
        order by 1, 2`,
    mariadb: sql`select table_name, column_name, column_type, collation_name, is_nullable, null as place
        from information_schema.columns where table_schema = database()
        union all select table_name, index_name, column_name, non_unique, null, seq_in_index
        from information_schema.statistics where table_schema = database()
        order by 1, 2, 3`,
  }[dialect];
  return (await query.execute(db)).rows;
}
