import { sql } from 'kysely';
import { paymentSchema } from '../../../lib/store/sql/index.js';
import { TestDatabases } from './test-databases.js';

let databases: TestDatabases;

beforeAll(async () => {
  databases = await TestDatabases.start();
});

afterAll(() => databases.stop());

describe.each(['sqlite', 'postgres'] as const)('%s', (dialect) => {
  test('many that open at once make the schema once', async () => {
    const { store, db } = await databases.make(dialect);
    const stores = Array.from({ length: 8 }, () => store());
    await Promise.all(stores.map((one) => one.open()));
    await Promise.all(stores.map((one) => one.close()));
    const { rows } = await sql<{ version: number }>`select version from card_payment_migration`.execute(db);
    expect(rows.map(({ version }) => version)).toEqual([1]);
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

  test('a schema newer than the code is left alone', async () => {
    const { store, run } = await databases.make(dialect);
    await run(paymentSchema(dialect));
    await run('insert into card_payment_migration (version, applied_at) values (99, 0)');
    for (const migrate of [true, false]) {
      const opened = store({ migrate });
      await expect(opened.open()).rejects.toThrow('of version 99, newer than this release of nestjs-card-payment');
      await opened.close();
    }
  });
});
