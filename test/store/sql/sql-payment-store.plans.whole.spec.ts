import { type CompiledQuery, Kysely, sql } from 'kysely';
import type { ListPage, PaymentStore, Retention } from '../../../lib/store/payment-store.js';
import { type PaymentTables, sqlPaymentStore } from '../../../lib/store/sql/index.js';
import { at, StoreTrial } from '../contract/store-trial.js';
import { TestClock } from '../../../lib/testing/index.js';
import type { SharedStore } from '../../rigs/shared-stores.js';
import { DATABASES, DIALECTS, type TestedDialect } from './test-databases.js';

type Db = Kysely<PaymentTables>;

describe('sql payment store plans', () => {
  /** Settled payments, each with its event and a delivery. */
  const ROWS = 40_000;
  /** What a statement may read of PostgreSQL's pages of 8 KiB, most of it for a batch of 200; the tables have thousands. */
  const MAX_PAGES = 2_000;
  /** What a call may read of MariaDB's rows and entries of indexes, most of it for a batch of 200. */
  const MAX_READS = 15_000;
  /** About as long as a record or an event is. */
  const LONG = 'x'.repeat(500);

  const YEAR_MS = 365 * 86_400_000;

  const account = 'many';
  const LEASE = { account, leaseMs: YEAR_MS, limit: 20 };
  const LATER_DELIVERIES = {
    account,
    parked: false,
    after: { occurredAt: at(ROWS / 2), eventId: 'c', handlerId: 'h1' },
    limit: 20,
  };
  const ofHandler = (handlerId: string) => {
    return { ...LEASE, handlerId, types: ['payment.succeeded'] as const, lease: 'l' };
  };
  const settledPage = (after: number | null) => {
    const place = after === null ? null : { finalizedAt: at(after), conversationId: `c${after}` };
    return { account, from: at(0), to: at(ROWS), after: place, limit: 200 };
  };
  const page = (changes: Partial<ListPage>): ListPage => {
    return { account, type: 'payment', after: null, limit: 50, ...changes };
  };

  /** What the planner says of a statement, a line each. */
  const explain: Readonly<Record<TestedDialect, (db: Db, query: CompiledQuery) => Promise<string[]>>> = {
    sqlite: async (db: Db, query: CompiledQuery) => {
      const { rows } = await db.executeQuery<{ detail: string }>({ ...query, sql: `explain query plan ${query.sql}` });
      return rows.map((row) => row.detail);
    },
    // Runs it, too, and undoes it.
    postgres: async (db: Db, query: CompiledQuery) => {
      const lines = await db.connection().execute(async (connection) => {
        await sql`begin`.execute(connection);
        try {
          const text = `explain (analyze, buffers) ${query.sql}`;
          const { rows } = await connection.executeQuery<Record<string, string>>({ ...query, sql: text });
          return rows.map((row) => row['QUERY PLAN'] ?? '');
        } finally {
          await sql`rollback`.execute(connection);
        }
      });
      const [, hit = '0', read = '0'] = /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(lines.join('\n')) ?? [];
      if (Number(hit) + Number(read) > MAX_PAGES)
        lines.push(`TOO MANY PAGES: ${Number(hit) + Number(read)} ${query.sql}`);
      return lines;
    },
    // What it reads is counted when the store runs it.
    mariadb: async (db: Db, query: CompiledQuery) => {
      const explained = { ...query, sql: `explain ${query.sql}` };
      const { rows } = await db.executeQuery<Record<string, string | number | null>>(explained);
      return rows.map((row) => [row['table'], row['type'], row['key'], row['Extra']].join(' '));
    },
  };

  describe.each(DIALECTS)('%s', (dialect) => {
    let server: SharedStore;
    let queries: CompiledQuery[] = [];
    let db: Db;
    let store: PaymentStore;
    let trial: StoreTrial;
    const clock = new TestClock(at(ROWS + 1));
    const log = (event: { query: CompiledQuery }): void => void queries.push(event.query);

    beforeAll(async () => {
      server = await DATABASES[dialect].start();
      db = new Kysely({ dialect: DATABASES[dialect].kysely(await server.create()), log });
      store = sqlPaymentStore({ db, dialect, clock });
      await store.open();
      trial = new StoreTrial(store, store, clock, account);
      await fill(db, account, dialect);
      if (dialect === 'postgres') await sql`vacuum analyze`.execute(db);
    });

    afterAll(() => db.destroy());

    /** The plan of every statement on the big tables that this runs. */
    async function plans(work: () => Promise<unknown>, of = db): Promise<string> {
      const before = dialect === 'mariadb' ? await readsSoFar(db) : 0;
      queries = [];
      await work();
      const reads = dialect === 'mariadb' ? (await readsSoFar(db)) - before : 0;
      const asked = queries.filter(({ sql: text }) =>
        /^(select(?! set_config)|update|delete|insert .* select|with)/.test(text.trim()),
      );
      expect(asked.length).toBeGreaterThan(0);
      const lines = reads > MAX_READS ? [`TOO MANY PAGES: ${reads} rows`] : [];
      for (const query of asked) lines.push(...(await explain[dialect](of, query)));
      return lines.join('\n');
    }

    const purge = (retention: Partial<Retention>) =>
      store.purge(account, { paymentsMs: null, pairsMs: YEAR_MS, keysMs: YEAR_MS, ...retention });

    test.each<[string, () => Promise<unknown>]>([
      ['find', () => store.find(account, 'c7')],
      ['findByTokenHash', () => store.findByTokenHash(account, 't7')],
      ['findByIdempotencyKey', () => store.findByIdempotencyKey(account, 'payment', 'k7')],
      ['findByReferenceLock', () => store.findByReferenceLock(account, 'r7')],
      ['isHeld', () => store.isHeld(account, 'r7', ['failed'])],
      ['findByReference', () => store.findByReference(account, 'r7')],
      ['list by unsettled state', () => store.list(page({ states: ['unknown', 'review'] }))],
      ['list', () => store.list(page({}))],
      ['list, a later page', () => store.list(page({ after: { createdAt: at(ROWS / 2), conversationId: 'c7' } }))],
      ['list by state', () => store.list(page({ states: ['unknown', 'succeeded'] }))],
      ['list of a reference', () => store.list(page({ reference: 'r7' }))],
      ['list of refunds', () => store.list(page({ type: 'refund' }))],
      ['findRefunds', () => store.findRefunds(account, 'c7')],
      ['listSettled', () => store.listSettled(settledPage(null))],
      ['listSettled, a later page', () => store.listSettled(settledPage(ROWS / 2))],
      ['history', () => store.history(account, 'c7')],
      ['leaseDue', () => store.leaseDue(LEASE)],
      ['handBack', () => store.handBack(account, 'c7', 1, at(0))],
      ['fanOut', () => store.fanOut(account, 50)],
      ['leaseDeliveries', () => store.leaseDeliveries(ofHandler('h1'))],
      ['leaseDeliveries, where all are put off', () => store.leaseDeliveries(ofHandler('h2'))],
      ['acknowledge', () => store.acknowledge(account, 'h1', 'c70:1')],
      ['listDeliveries', () => store.listDeliveries({ account, parked: true, after: null, limit: 20 })],
      [
        'listDeliveries of a payment',
        () => store.listDeliveries({ ...LATER_DELIVERIES, after: null, parked: true, ids: ['c7', 'f7'] }),
      ],
      ['listDeliveries, open', () => store.listDeliveries(LATER_DELIVERIES)],
      ['replay', () => store.replay(account, 'h1', 'c7:1')],
      ['purge', () => purge({ paymentsMs: ROWS - 300 })],
      ['purge of keys', () => purge({ keysMs: 0 })],
      [
        'a payment',
        async () => {
          const { event } = await trial.publish(await trial.insert({ referenceLock: 'new' }), 'succeeded', at(1));
          const delivery = { account, handlerId: 'h1', eventId: event.eventId, lease: 'l' };
          await store.renewLease(delivery, 1);
          await store.postpone(delivery, { attempts: 1, parked: true, error: 'E', retryInMs: 1 });
        },
      ],
    ])('%s reads by an index, and what it costs does not grow with what is stored', async (_name, work) => {
      const plan = await plans(work);
      expect(plan).not.toMatch(/Seq Scan on card_payment(_(version|delivery|name))?\b(?!_)/);
      expect(plan).not.toMatch(/^SCAN (card_payment|delivery|earlier|payment|version)\b/m);
      expect(plan).not.toMatch(
        /^(card_payment(_(version|delivery|name))?|delivery|earlier|payment|version|name|later|pending) (ALL|index) /m,
      );
      expect(plan).not.toMatch(/TOO MANY PAGES.*/);
    });

    test.each<[string, () => Promise<unknown>]>([
      ['list by unsettled state', () => store.list(page({ states: ['unknown'] }))],
      ['list', () => store.list(page({}))],
      ['list by state', () => store.list(page({ states: ['succeeded'] }))],
      ['listSettled', () => store.listSettled(settledPage(null))],
      ['listSettled, a later page', () => store.listSettled(settledPage(ROWS / 2))],
      ['leaseDue', () => store.leaseDue(LEASE)],
    ])('%s sorts nothing', async (_name, work) => {
      expect(await plans(work)).not.toMatch(/\bSort\b|TEMP B-TREE|filesort|temporary/);
    });
  });

  /** Many settled payments, each with a refund, few that are due, a backlog of events that nobody takes, and of deliveries that are put off. */
  async function fill(db: Db, account: string, dialect: TestedDialect): Promise<void> {
    const start = at(0).getTime();
    if (dialect === 'mariadb') {
      await sql`set sql_mode = concat(@@sql_mode, ',PIPES_AS_CONCAT'), max_recursive_iterations = ${ROWS}`.execute(db);
    }
    const numbers = sql`with recursive number(i) as (select 1 union all select i + 1 from number where i < ${sql.lit(ROWS)})`;
    const rows = (table: string, columns: string, values: ReturnType<typeof sql>) =>
      sql`insert into ${sql.table(table)} (${sql.raw(columns)}) ${numbers} select ${sql.lit(account)}, ${values} from number`.execute(
        db,
      );
    const columns =
      'account, conversation_id, version, state, is_refund, parent_id, reference, created_at, updated_at, finalized_at, due_at';
    await rows(
      'card_payment',
      columns,
      sql`'c' || i, 1, case when i % 100 = 0 then 'unknown' else 'succeeded' end, 0, null, 'r' || i, ${sql.lit(start)} + i, ${sql.lit(start)} + i, case when i % 100 = 0 then null else ${sql.lit(start)} + i end, case when i % 100 = 0 then ${sql.lit(start)} + i else null end`,
    );
    const text = JSON.stringify({ conversationId: 'c', createdAt: '2026-03-01T10:00:00.123Z', note: LONG });
    const version = 'account, conversation_id, version, type, record';
    await rows('card_payment_version', version, sql`'c' || i, 1, 'payment.succeeded', ${sql.lit(text)}`);
    await rows(
      'card_payment_name',
      'account, name, conversation_id, purged_at',
      sql`'key:' || i, case when i % 2 = 0 then 'c' || i else null end, case when i % 2 = 0 then null else ${sql.lit(start)} + 2 * ${sql.lit(ROWS)} end`,
    );
    const delivery =
      'account, handler_id, event_id, conversation_id, version, type, occurred_at, status, attempts, due_at';
    await rows(
      'card_payment_delivery',
      delivery,
      sql`'', 'c' || i || ':1', 'c' || i, 1, case when i % 10 = 0 then 'payment.succeeded' else 'payment.failed' end, ${sql.lit(start)} + i, 2, 0, ${sql.lit(start)} + i`,
    );
    // Nearly all are put off for long.
    await rows(
      'card_payment_delivery',
      delivery,
      sql`case when i % 2 = 0 then 'h1' else 'h2' end, 'c' || (i + 1000) || ':1', 'c' || (i + 1000), 1, 'payment.succeeded', ${sql.lit(start)} + i, case when i % 50 = 0 then 1 else 0 end, 0, ${sql.lit(start)} + case when i % 1000 = 0 then 0 else 3 * ${sql.lit(ROWS)} end`,
    );
    await rows(
      'card_payment',
      columns,
      sql`'f' || i, 1, 'succeeded', 1, 'c' || i, 'c' || i, ${sql.lit(start)} + i, ${sql.lit(start)} + i, ${sql.lit(start)} + i, null`,
    );
    await rows('card_payment_version', version, sql`'f' || i, 1, 'refund.succeeded', ${sql.lit(text)}`);
    if (dialect !== 'mariadb') return void (await sql`analyze`.execute(db));
    await sql`analyze table card_payment, card_payment_version, card_payment_name, card_payment_delivery`.execute(db);
  }
});

/** Rows and entries of indexes that the only connection has read. */
async function readsSoFar(db: Db): Promise<number> {
  const { rows } = await sql<{ Value: string }>`show session status where variable_name like 'Handler_read%'
    or variable_name = 'Handler_icp_attempts'`.execute(db);
  return rows.reduce((sum, { Value: value }) => sum + Number(value), 0);
}
