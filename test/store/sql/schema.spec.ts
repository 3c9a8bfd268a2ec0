import { CamelCasePlugin, Kysely, sql } from 'kysely';
import { openSqlStore, paymentSchema, type SqlPaymentStore, sqlPaymentStore } from '../../../lib/store/sql/index.js';
import { TestClock } from '../../../lib/testing/index.js';
import { sample } from '../../rigs/extent.js';
import { engineNamed } from '../../../lib/store/sql/engines.js';
import { paymentStoreContract } from '../contract/payment-store-contract.js';
import { at, StoreTrial } from '../contract/store-trial.js';
import type { SharedStore } from '../../rigs/shared-stores.js';
import { DATABASES, DIALECTS } from './test-databases.js';

describe.each(DIALECTS)('the schema in %s', (dialect) => {
  let server: SharedStore;
  let url: string;
  const ends: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    server = await DATABASES[dialect].start();
  });
  beforeEach(async () => {
    url = await server.create();
  });
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  const run = (script: string, at = url) => DATABASES[dialect].run(at, script);
  /** A database of a host. */
  const connect = (at = url) => {
    const db = new Kysely<{ orders: { id: string; paid_at: number } }>({
      dialect: DATABASES[dialect].kysely(at),
      plugins: [new CamelCasePlugin()],
    });
    ends.push(() => db.destroy());
    return db;
  };
  const make = async (migrate = true, clock?: TestClock) => {
    const store = await openSqlStore(url, { mustExist: !migrate, clock });
    ends.push(() => store.close());
    return store;
  };
  const open = async (store: SqlPaymentStore) => {
    await store.open();
    return new StoreTrial(store, store, new TestClock());
  };
  const rowsOf = async (query: string, at = url) => (await sql.raw(query).execute(connect(at))).rows;

  test('the printed schema is the one that is made', async () => {
    const printed = await server.create();
    await run(paymentSchema(dialect), printed);
    await open(await make());
    const { schema } = DATABASES[dialect];
    expect(await rowsOf(schema, printed)).toEqual(await rowsOf(schema));
  }, 120_000);

  // Cases of the contract suite run in one test, hence its limit.
  test('a store lives beside the tables of a host, whose Kysely stays open and keeps its plugins', async () => {
    const db = connect();
    await db.schema.createTable('orders').addColumn('id', 'text').addColumn('paid_at', 'bigint').execute();
    await run(paymentSchema(dialect));
    const clock = new TestClock(at(0));
    const store = sqlPaymentStore({ db, dialect, clock, migrate: false });
    await store.open();
    for (const [, run] of sample(11, paymentStoreContract)) {
      clock.set(at(0));
      await run(new StoreTrial(store, store, clock));
    }
    await store.close();
    await db.insertInto('orders').values({ id: 'a', paid_at: 1 }).execute();
    const rows = await db.selectFrom('orders').selectAll().execute();
    expect(rows.map((row) => Object.keys(row))).toEqual([['id', 'paidAt']]);
  }, 120_000);

  test('many that open at once make the schema once, and each closes its own connections', async () => {
    const stores = await Promise.all(Array.from({ length: 8 }, () => openSqlStore(url)));
    await Promise.all(stores.map((store) => store.open()));
    await Promise.all(stores.map((store) => store.close()));
    for (const store of stores) await expect(store.find('default', 'none')).rejects.toThrow();
    expect(await rowsOf('select version, lowest from card_payment_schema_version')).toEqual([
      { version: 1, lowest: 1 },
    ]);
  });

  // Of many that delete a lock and insert it anew at once, some find it taken again and again.
  test.each(['the holder', 'another payment'])('a pin by %s keeps the row of the lock', async (who) => {
    const { keyType } = engineNamed(dialect).schema;
    const trial = await open(await make());
    const reference = 'order-1';
    const holder = await trial.insert({ state: 'charging', reference, referenceLock: reference });
    const other = await trial.insert({ state: 'failed', reference });
    // A row of a host that refers to it would be lost with it.
    await run(`create table of_host (account ${keyType(128)}, name ${keyType(64)},
      foreign key (account, name) references card_payment_name (account, name))`);
    await run('insert into of_host select account, name from card_payment_name');
    const changes = { state: 'review', referenceLock: null, pinsReference: true } as const;
    await trial.replace(who === 'the holder' ? holder : other, changes);
    expect(await trial.store.findByReferenceLock(trial.account, reference)).toBe('purged');
  });

  test('where no tables may be made, it says what is missing', async () => {
    const store = sqlPaymentStore({ db: connect(), dialect, migrate: false });
    await expect(store.open()).rejects.toThrow(
      `the payment tables are missing, and this release of nestjs-card-payment needs version 1: ` +
        `apply what "npx nestjs-card-payment schema --dialect ${dialect}" prints`,
    );
  });

  test('what a process has made before it died is passed over', async () => {
    const created = paymentSchema(dialect)
      .split(';\n\n')
      .filter((one) => /^create/.test(one.trim()));
    await run(created.slice(0, 5).join(';\n'));
    await (await open(await make())).insert();
  });

  test.each([
    [
      'of before the first release',
      ['create table card_payment_migration (version integer)'],
      /before its first release, .* has the table card_payment_migration.* then drop its tables/,
    ],
    [
      'that this release must know',
      [
        paymentSchema(dialect),
        'insert into card_payment_schema_version (version, lowest, applied_at) values (98, 1, 0), (99, 2, 0)',
      ],
      'of version 99, newer than this release of nestjs-card-payment',
    ],
  ])('tables %s are refused by name, and left alone', async (_what, scripts, message) => {
    for (const script of scripts) await run(script);
    const before = await rowsOf(DATABASES[dialect].schema);
    for (const migrate of [true, false]) await expect((await make(migrate)).open()).rejects.toThrow(message);
    expect(await rowsOf(DATABASES[dialect].schema)).toEqual(before);
  });

  test('a newer schema that this release may use is used, and stays as it is', async () => {
    await run(paymentSchema(dialect));
    await run('alter table card_payment add column risk_score integer');
    await run('insert into card_payment_schema_version (version, lowest, applied_at) values (2, 1, 0)');
    for (const migrate of [true, false]) {
      const trial = await open(await make(migrate));
      const record = await trial.insert();
      await trial.expectStored(record);
      await trial.replace(record, { state: 'authorizing' });
    }
    const versions = await rowsOf('select version from card_payment_schema_version order by version');
    expect(versions).toEqual([{ version: 1 }, { version: 2 }]);
  });
});
