import { sql } from 'kysely';
import { paymentSchema } from '../../../lib/store/sql/index.js';
import { paymentStoreContract, type TestClock } from '../../../lib/testing/index.js';
import { type TestDatabase, TestDatabases } from './test-databases.js';

/** All cases of the contract suite run in one test. */
const WHOLE_SUITE_MS = 120_000;

let databases: TestDatabases;

beforeAll(async () => {
  databases = await TestDatabases.start();
});

afterAll(() => databases.stop());

describe.each(['sqlite', 'postgres'] as const)('%s', (dialect) => {
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
      for (const check of paymentStoreContract) await check.run({ create });
    },
    WHOLE_SUITE_MS,
  );
});

/** Every table and index, as the database has them. */
async function schemaOf({ dialect, db }: TestDatabase): Promise<unknown[]> {
  const query =
    dialect === 'sqlite'
      ? sql`select sql from sqlite_master where sql is not null order by name`
      : sql`select table_name, column_name, data_type, collation_name, is_nullable, null as definition
            from information_schema.columns where table_schema = 'public'
            union all select tablename, indexname, null, null, null, indexdef from pg_indexes where schemaname = 'public'
            order by 1, 2`;
  return (await query.execute(db)).rows;
}
