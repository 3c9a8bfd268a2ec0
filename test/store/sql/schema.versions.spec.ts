import { sql } from 'kysely';
import { paymentSchema } from '../../../lib/store/sql/index.js';
import { StoreTrial } from '../contract/store-trial.js';
import { TestClock } from '../../../lib/testing/index.js';
import { DIALECTS, TestDatabases } from './test-databases.js';

let databases: TestDatabases;

describe('payment schema versions', () => {
  beforeAll(async () => {
    databases = await TestDatabases.start();
  });

  afterAll(() => databases.stop());

  describe.each(DIALECTS)('%s', (dialect) => {
    test('many that open at once make the schema once', async () => {
      const { store, db } = await databases.make(dialect);
      const stores = Array.from({ length: 8 }, () => store());
      await Promise.all(stores.map((one) => one.open()));
      await Promise.all(stores.map((one) => one.close()));
      const { rows } = await sql`select version, lowest from card_payment_schema`.execute(db);
      expect(rows).toEqual([{ version: 1, lowest: 1 }]);
    });

    test('migrate: false says what is missing', async () => {
      const { store } = await databases.make(dialect);
      const opened = store({ migrate: false });
      await expect(opened.open()).rejects.toThrow(
        `the payment tables are missing, and this release of nestjs-card-payment needs version 1: ` +
          `apply what "npx nestjs-card-payment schema --dialect ${dialect}" prints`,
      );
      await opened.close();
    });

    test('tables of before the first release are refused by name, and left alone', async () => {
      const { store, run } = await databases.make(dialect);
      await run('create table card_payment_migration (version integer)');
      for (const migrate of [true, false]) {
        const opened = store({ migrate });
        await expect(opened.open()).rejects.toThrow(
          /before its first release, .* has the table card_payment_migration.* then drop its tables/,
        );
        await opened.close();
      }
    });

    test('what a process has made before it died is passed over', async () => {
      const { store, run } = await databases.make(dialect);
      const statements = paymentSchema(dialect).split(';\n\n');
      await run(
        statements
          .filter((one) => /^create/.test(one.trim()))
          .slice(0, 5)
          .join(';\n'),
      );
      const opened = store();
      await opened.open();
      const trial = new StoreTrial(opened, opened, new TestClock());
      await trial.insert();
      await opened.close();
    });

    test('a newer schema that this release must know is left alone', async () => {
      const { store, run } = await databases.make(dialect);
      await run(paymentSchema(dialect));
      await run('insert into card_payment_schema (version, lowest, applied_at) values (98, 1, 0), (99, 2, 0)');
      for (const migrate of [true, false]) {
        const opened = store({ migrate });
        await expect(opened.open()).rejects.toThrow('of version 99, newer than this release of nestjs-card-payment');
        await opened.close();
      }
    });

    test('a newer schema that this release may use is used, and stays as it is', async () => {
      const { store, run, db } = await databases.make(dialect);
      await run(paymentSchema(dialect));
      await run('alter table card_payment add column risk_score integer');
      await run('insert into card_payment_schema (version, lowest, applied_at) values (2, 1, 0)');
      for (const migrate of [true, false]) {
        const opened = store({ migrate });
        await opened.open();
        const trial = new StoreTrial(opened, opened, new TestClock());
        const record = await trial.insert();
        expect(await trial.find(record)).toEqual(record);
        await trial.replace(record, { state: 'authorizing' });
        await opened.close();
      }
      const { rows } = await sql<{
        version: number;
      }>`select version from card_payment_schema order by version`.execute(db);
      expect(rows.map(({ version }) => version)).toEqual([1, 2]);
    });
  });
});
