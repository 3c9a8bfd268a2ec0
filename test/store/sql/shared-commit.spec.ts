import Database from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { sqlPaymentStore, type SqlPaymentStore } from '../../../lib/store/sql/index.js';
import { TestClock } from '../../../lib/testing/index.js';
import { StoreTrial } from '../contract/store-trial.js';

let db: Kysely<object>;
let file: Database.Database;
let store: SqlPaymentStore;
let trial: StoreTrial;
let statements: string[];

/** What waits for the writer of a SQLite store shares a transaction. */
describe('shared commits', () => {
  beforeEach(async () => {
    statements = [];
    file = new Database(':memory:');
    const log = ({ query }: { query: { sql: string } }): void => void statements.push(query.sql);
    db = new Kysely({ dialect: new SqliteDialect({ database: file }), log });
    store = sqlPaymentStore({ db, dialect: 'sqlite', clock: new TestClock() });
    await store.open();
    trial = new StoreTrial(store, store, new TestClock());
    statements = [];
  });
  afterEach(() => db.destroy());

  const commits = () => statements.filter((text) => text === 'commit').length;
  const insertAll = (records: Parameters<SqlPaymentStore['insert']>[0][]) =>
    Promise.allSettled(records.map((record) => store.insert(record)));

  test('up to 64 transitions share one, and none is begun when nothing waits', async () => {
    const records = Array.from({ length: 130 }, () => trial.record());
    expect((await insertAll(records)).every(({ status }) => status === 'fulfilled')).toBe(true);
    expect(commits()).toBe(3);
    for (const record of records) expect(await trial.find(record)).toEqual(record);
    expect(commits()).toBe(3);
  });

  test('no promise resolves before the commit that holds its transition', async () => {
    const resolvedAt: number[] = [];
    await Promise.all(
      Array.from({ length: 8 }, () => store.insert(trial.record()).then(() => resolvedAt.push(commits()))),
    );
    expect(resolvedAt).toEqual(Array(8).fill(1));
  });

  test('one that is refused is undone whole, and the others are written', async () => {
    const lock = { reference: 'order-1', referenceLock: 'order-1' };
    const [first, refused, third] = [
      trial.record(lock),
      trial.record({ ...lock, idempotencyKey: 'k' }),
      trial.record(),
    ];
    const outcomes = await insertAll([first, refused, third]);
    expect(outcomes.map((one) => (one.status === 'fulfilled' ? one.value : one))).toEqual([
      null,
      'referenceLock',
      null,
    ]);
    expect([await trial.find(refused), await trial.versions(refused)]).toEqual([null, []]);
    // Neither its row nor its key is left.
    expect(await store.insert({ ...refused, referenceLock: null })).toBeNull();
    for (const record of [first, third]) expect(await trial.versions(record)).toEqual([1]);
  });

  test('one at fault fails alone, even where it undoes the whole transaction', async () => {
    file.exec(`create trigger full before insert on card_payment when new.conversation_id = 'BAD'
      begin select raise(rollback, 'the disk is full'); end`);
    const [first, bad, third] = [trial.record(), trial.record({ conversationId: 'BAD' }), trial.record()];
    const outcomes = await insertAll([first, bad, third]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect([await trial.find(first), await trial.find(bad), await trial.find(third)]).toEqual([first, null, third]);
  });
});
