import Database from 'better-sqlite3';
import { type CompiledQuery, Kysely, PostgresDialect, sql, SqliteDialect } from 'kysely';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { PaymentStore } from '../../../lib/store/payment-store.js';
import { type PaymentTables, sqlPaymentStore } from '../../../lib/store/sql/index.js';
import { at, StoreTrial } from '../../../lib/testing/contract/store-trial.js';
import { type Postgres, startPostgres } from '../../services/postgres.js';

type Db = Kysely<PaymentTables>;

let postgres: Postgres;
const folder = mkdtempSync(join(tmpdir(), 'payments-'));

beforeAll(async () => {
  postgres = await startPostgres();
});

afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true });
});

const ROWS = 20_000;

/** What the planner says of a statement, a line each. */
const explain = {
  sqlite: async (db: Db, query: CompiledQuery) => {
    const { rows } = await db.executeQuery<{ detail: string }>({ ...query, sql: `explain query plan ${query.sql}` });
    return rows.map((row) => row.detail);
  },
  postgres: async (db: Db, query: CompiledQuery) => {
    const { rows } = await db.executeQuery<Record<string, string>>({ ...query, sql: `explain ${query.sql}` });
    return rows.map((row) => row['QUERY PLAN'] ?? '');
  },
};

describe.each(['sqlite', 'postgres'] as const)('%s', (dialect) => {
  let queries: CompiledQuery[] = [];
  let db: Db;
  let store: PaymentStore;
  let trial: StoreTrial;

  beforeAll(async () => {
    const log = (event: { query: CompiledQuery }): void => void queries.push(event.query);
    db =
      dialect === 'sqlite'
        ? new Kysely({ dialect: new SqliteDialect({ database: new Database(join(folder, 'plans.db')) }), log })
        : new Kysely({
            dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: postgres.url }) }),
            log,
          });
    store = sqlPaymentStore({ db, dialect });
    await store.open();
    trial = new StoreTrial(store, store);
    await fill(db, trial.account);
  });

  afterAll(() => db.destroy());

  /** The plan of every statement on the big tables that this runs. */
  async function plans(work: () => Promise<unknown>): Promise<string> {
    queries = [];
    await work();
    const asked = queries.filter(({ sql: text }) => /^(select|update|delete|insert .* select)/.test(text));
    expect(asked.length).toBeGreaterThan(0);
    const lines = await Promise.all(asked.map((query) => explain[dialect](db, query)));
    return lines.flat().join('\n');
  }

  const lease = () => ({ account: trial.account, now: at(30), until: at(1_000_000), limit: 20 });

  test.each<[string, () => Promise<unknown>]>([
    ['find', () => store.find(trial.account, 'c7')],
    ['findByTokenHash', () => store.findByTokenHash(trial.account, 't7')],
    ['findByIdempotencyKey', () => store.findByIdempotencyKey(trial.account, 'k7')],
    ['findByReference', () => store.findByReference(trial.account, 'r7')],
    ['listByState', () => store.listByState(trial.account, ['unknown', 'review'], 50)],
    ['history', () => store.history(trial.account, 'c7')],
    ['leaseDue', () => store.leaseDue(lease())],
    ['handBack', () => store.handBack(trial.account, 'c7', 1, at(0))],
    ['leaseDeliveries', () => store.leaseDeliveries({ ...lease(), handlerIds: ['h1', 'h2'] })],
    ['acknowledge', () => store.acknowledge(trial.account, 'h1', 'c70:1')],
    ['listParked', () => store.listParked(trial.account, 20)],
    ['replay', () => store.replay(trial.account, 'h1', 'c7:1', at(0))],
    [
      'replace',
      async () => {
        const { event } = await trial.publish(await trial.insert({ referenceLock: 'new' }), 'failed', at(1));
        await store.leaseDeliveries({ ...lease(), handlerIds: ['h1'] });
        const delivery = { account: trial.account, handlerId: 'h1', event, attempts: 1, parked: true, error: 'E' };
        await store.postpone({ ...delivery, dueAt: at(1) });
      },
    ],
  ])('%s reads by an index', async (_name, work) => {
    const plan = await plans(work);
    expect(plan).not.toMatch(/Seq Scan on card_payment(_(history|event|delivery|reference_lock))?\b(?!_)/);
    expect(plan).not.toMatch(/^SCAN (card_payment|event|delivery|earlier|payment)\b/m);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['listByState', () => store.listByState(trial.account, ['unknown'], 50)],
    ['leaseDue', () => store.leaseDue(lease())],
    ['leaseDeliveries', () => store.leaseDeliveries({ ...lease(), handlerIds: ['h1'] })],
    ['listParked', () => store.listParked(trial.account, 20)],
  ])('%s sorts nothing: what it costs does not grow with what is stored', async (_name, work) => {
    expect(await plans(work)).not.toMatch(/\bSort\b|TEMP B-TREE/);
  });

  test('purge and announceHandlers read payments and events by an index', async () => {
    const plan = await plans(async () => {
      await store.announceHandlers(trial.account, [{ id: 'h1', types: ['payment.failed'] }], at(5));
      await store.purge(trial.account, at(20), at(0));
    });
    expect(plan).not.toMatch(/Seq Scan on card_payment(_(history|event|reference_lock))?\b(?!_)/);
    expect(plan).not.toMatch(/^SCAN (card_payment|event|payment)\b/m);
  });
});

/** Many settled payments with an acknowledged event, few that are due, and a backlog of deliveries. */
async function fill(db: Db, account: string): Promise<void> {
  const start = at(0).getTime();
  const numbers = sql`with recursive number(i) as (select 1 union all select i + 1 from number where i < ${sql.lit(ROWS)})`;
  const rows = (table: string, columns: string, values: ReturnType<typeof sql>) =>
    sql`insert into ${sql.table(table)} (${sql.raw(columns)}) ${numbers} select ${sql.lit(account)}, ${values} from number`.execute(
      db,
    );
  await rows(
    'card_payment',
    'account, conversation_id, version, state, reference, idempotency_key, token_hash, created_at, updated_at, finalized_at, due_at, record',
    sql`'c' || i, 1, case when i % 100 = 0 then 'unknown' else 'succeeded' end, 'r' || i, 'k' || i, 't' || i, ${sql.lit(start)} + i, ${sql.lit(start)} + i, case when i % 100 = 0 then null else ${sql.lit(start)} + i end, case when i % 100 = 0 then ${sql.lit(start)} + i else null end, '{"updatedAt":"2026-03-01T10:00:00.123Z"}'`,
  );
  await rows('card_payment_history', 'account, conversation_id, version, entry', sql`'c' || i, 1, '{}'`);
  await rows('card_payment_reference_lock', 'account, reference, conversation_id', sql`'r' || i, 'c' || i`);
  await rows(
    'card_payment_event',
    'account, event_id, conversation_id, version, type, occurred_at, waiting, event',
    sql`'c' || i || ':1', 'c' || i, 1, 'payment.succeeded', ${sql.lit(start)} + i, case when i % 1000 = 0 then 1 else 0 end, '{"payment":{}}'`,
  );
  await rows(
    'card_payment_delivery',
    'account, handler_id, event_id, conversation_id, version, occurred_at, attempts, parked, due_at',
    sql`case when i % 2 = 0 then 'h1' else 'h2' end, 'c' || i || ':1', 'c' || i, 1, ${sql.lit(start)} + i, 0, case when i % 50 = 0 then 1 else 0 end, ${sql.lit(start)} + i`,
  );
  await sql`analyze`.execute(db);
}
