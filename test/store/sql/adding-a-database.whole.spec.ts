import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { PaymentClock } from '../../../lib/payment/clock.js';
import { SQL_ENGINES, type SqlDialect } from '../../../lib/store/sql/engines.js';
import { openSqlStore, paymentSchema, sqlPaymentStore } from '../../../lib/store/sql/index.js';
import { StoreTrial } from '../../../lib/testing/contract/store-trial.js';
import { describePaymentStore, TestClock } from '../../../lib/testing/index.js';
import { type Postgres, startPostgres } from '../../services/postgres.js';
import { thirdEngine } from './adding-a-database/third.engine.js';
import { describeLeases } from './lease-cases.js';
import { racingPostgres } from './engines/postgres/racing-postgres.js';
import { describeLeaseRaces } from './lease-races.js';
import { sampling } from '../../rigs/extent.js';

// The line in engines.ts. No other file of lib knows that there is a third database.
(SQL_ENGINES as unknown as unknown[]).push(thirdEngine);
const THIRD = thirdEngine.name as string as SqlDialect;

let postgres: Postgres;

describe('adding a database', () => {
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.stop());

  const thirdUrl = (url: string) => url.replace(/^postgres/, 'third');
  const poolOfNewDatabase = async () => new pg.Pool({ connectionString: await postgres.createDatabase() });

  async function open(clock: PaymentClock, url = postgres.url) {
    const store = await openSqlStore(thirdUrl(url), { clock });
    await store.open();
    return store;
  }

  describePaymentStore('a third database', { create: open, another: (_store, clock) => open(clock) }, sampling(5));

  describeLeases(THIRD, () => new PostgresDialect({ pool: poolOfNewDatabase }));

  describeLeaseRaces(
    racingPostgres(
      (pool, clock) =>
        sqlPaymentStore({ db: new Kysely({ dialect: new PostgresDialect({ pool }) }), dialect: THIRD, clock }),
      () => postgres.createDatabase(),
    ),
  );

  test('many that open at once make the schema once, and it is the printed one', async () => {
    const [made, printed] = [await postgres.createDatabase(), await postgres.createDatabase()];
    const stores = await Promise.all(Array.from({ length: 8 }, () => openSqlStore(thirdUrl(made))));
    await Promise.all(stores.map((store) => store.open()));
    await Promise.all(stores.map((store) => store.close()));
    await rowsOf(printed, paymentSchema(THIRD));
    expect(await rowsOf(made, COLUMNS)).toEqual(await rowsOf(printed, COLUMNS));
    expect(await rowsOf(made, INDEXES)).toEqual(await rowsOf(printed, INDEXES));
    expect(await rowsOf(made, 'select version, lowest from card_payment_migration')).toEqual([
      { version: 1, lowest: 1 },
    ]);
  });

  test('a process that died while it made the schema leaves one that the next process completes', async () => {
    const url = await postgres.createDatabase();
    const [, ...statements] = paymentSchema(THIRD).split(';\n');
    for (const statement of statements.slice(0, 5)) await rowsOf(url, statement);
    const store = await open(new TestClock(), url);
    const trial = new StoreTrial(store, store, new TestClock());
    const record = await trial.insert();
    expect(await trial.find(record)).toEqual(record);
    await store.close();
  });

  test('its name and its URL are known everywhere', async () => {
    const { STORE_URL_FORMS, storeUrlProblem } = await import('../../../lib/store/store-url.js');
    expect(storeUrlProblem('third://host/payments')).toBeNull();
    expect(STORE_URL_FORMS).toContain('third://…');
    const { schemaCommand } = await import('../../../lib/cli/schema.command.js');
    expect(JSON.stringify(schemaCommand)).toContain('sqlite|postgres|mysql|mariadb|third');
    await expect(openSqlStore('none:x')).rejects.toThrow(
      'a SQL store is sqlite:FILE, postgres://…, mysql://…, mariadb://… or third://…',
    );
    const store = await openSqlStore(thirdUrl(postgres.url).replace(/\/[^/]*$/, '/none'));
    await expect(store.open()).rejects.toThrow('the third database has no such database (3D000)');
    await store.close();
  });
});

const COLUMNS = `select table_name, column_name, data_type, character_maximum_length, is_nullable
  from information_schema.columns where table_schema = 'public' and table_name <> 'third_lock' order by 1, 2`;
const INDEXES = `select indexdef from pg_indexes where schemaname = 'public' and tablename <> 'third_lock' order by 1`;

async function rowsOf(connectionString: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const { rows } = await client.query<object>(text);
  await client.end();
  return rows;
}
