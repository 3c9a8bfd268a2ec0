import { readFileSync } from 'node:fs';
import pg from 'pg';
import type { PaymentClock } from '../../../../../lib/runtime/clock.js';
import { paymentSchema } from '../../../../../lib/store/sql/index.js';
import { StoreTrial } from '../../../contract/store-trial.js';
import { TestClock } from '../../../../../lib/testing/index.js';
import { openedStoreAt } from '../../../../rigs/shared-stores.js';
import { type Postgres, queryPostgres, startPostgres } from '../../../../services/postgres.js';
import { until } from '../../../../services/until.js';
import { describePaymentStore } from '../../../contract/payment-store-contract.js';

/** What docs/internals/capacity.md offers to merchants with very many payments. */
const PARTITIONED = readFileSync('docs/partitioned-postgres.sql', 'utf8');

const DROP_MONTH = `select card_payment_drop_month((now() at time zone 'UTC')::date) as dropped`;
/** Sessions that wait for a lock. */
const WAITING = `select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;

let postgres: Postgres;
const open = (url: string, clock: PaymentClock) => openedStoreAt(url, { clock, mustExist: true });

async function createPartitioned(): Promise<string> {
  const url = await postgres.createDatabase();
  await queryPostgres(url, PARTITIONED);
  return url;
}

describe('partitioned postgres', () => {
  beforeAll(async () => {
    postgres = await startPostgres();
    await queryPostgres(postgres.url, PARTITIONED);
  });

  afterAll(() => postgres.stop());

  describePaymentStore(
    'PostgreSQL in partitions',
    {
      create: (clock) => open(postgres.url, clock),
      another: (clock) => open(postgres.url, clock),
    },
    4,
  );

  test('the tables have the columns of the ordinary schema and its version', async () => {
    const [ordinary, partitioned] = [await postgres.createDatabase(), await createPartitioned()];
    await queryPostgres(ordinary, paymentSchema('postgres'));
    const columns = `
    select table_name, column_name, data_type, collation_name, is_nullable from information_schema.columns
    where table_name in (select relname from pg_class where relkind in ('r', 'p') and not relispartition)
      and table_schema = 'public' and column_name <> 'written_at'
    order by 1, 2`;
    expect(await queryPostgres(partitioned, columns)).toEqual(await queryPostgres(ordinary, columns));
    const indexes = `
    select replace(pg_get_indexdef(oid), ' ON ONLY ', ' ON ') as definition
    from pg_class where relkind in ('i', 'I') and not relispartition and relname like 'card\\_payment%'
      and relname not like '%\\_pkey' order by 1`;
    expect(await queryPostgres(partitioned, indexes)).toEqual(await queryPostgres(ordinary, indexes));
    const versions = 'select version, lowest from card_payment_schema_version';
    expect(await queryPostgres(partitioned, versions)).toEqual(await queryPostgres(ordinary, versions));
  });

  test('every part of what is unique takes its share', async () => {
    const url = await createPartitioned();
    const store = await open(url, new TestClock());
    const trial = new StoreTrial(store, store, new TestClock());
    for (let i = 0; i < 200; i += 1) {
      await trial.insert({ tokenHash: `token ${i}`, idempotencyKey: `key ${i}`, referenceLock: `order ${i}` });
    }
    await store.close();
    for (const table of ['card_payment', 'card_payment_name']) {
      const rows = await queryPostgres(
        url,
        `select tableoid::regclass as part, count(*) as rows from ${table} group by 1`,
      );
      expect(rows).toHaveLength(8);
    }
  });

  test('a month is dropped once the retention has emptied it, and not before', async () => {
    const url = await createPartitioned();
    const now = new Date();
    const clock = new TestClock(now);
    const store = await open(url, clock);
    const trial = new StoreTrial(store, store, clock);
    const settled = trial.record({ state: 'succeeded', updatedAt: now, finalizedAt: now });
    const handler = await trial.handler('payment.succeeded');
    await trial.putWithEvent(settled);
    await trial.drain(handler);
    expect(await queryPostgres(url, DROP_MONTH)).toEqual([{ dropped: false }]);
    clock.set(new Date(now.getTime() + 60_000));
    const forever = 1_000 * 86_400_000;
    const purged = await store.purge(trial.account, { paymentsMs: 1_000, pairsMs: forever, keysMs: forever });
    expect(purged).toEqual({ payments: 1, events: 1, unheard: 0 });
    expect(await queryPostgres(url, DROP_MONTH)).toEqual([{ dropped: true }]);

    // What is written afterwards has a place all the same.
    const late = await trial.insert();
    expect(await store.history(trial.account, late.conversationId)).toHaveLength(1);
    await store.close();
  });

  test("a month that is dropped waits for whoever uses the tables, and is in nobody's way meanwhile", async () => {
    const url = await createPartitioned();
    const shop = new pg.Client({ connectionString: url });
    await shop.connect();
    await shop.query('begin');
    await shop.query('lock table only card_payment_version in row exclusive mode');
    const dropped = queryPostgres(url, DROP_MONTH);
    await until(async () => (await queryPostgres(url, WAITING)).length !== 0);
    await shop.query('select from card_payment_version');
    await shop.query('commit');
    await shop.end();
    expect(await dropped).toEqual([{ dropped: true }]);
  });
});
