import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import { SqlDatabase } from '../../../lib/store/sql/sql-database.js';
import { sqliteEngine } from '../../../lib/store/sql/engines/sqlite/sqlite.engine.js';
import type { PaymentClock } from '../../../lib/payment/clock.js';
import { TestClock } from '../../../lib/testing/index.js';

const db = new Kysely<never>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (one) => new SqliteIntrospector(one),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});
const databaseOf = (time: string | null, clock?: PaymentClock) =>
  new SqlDatabase(db, { ...sqliteEngine, time }, { clock });
const inSql = (database: SqlDatabase, ms?: number) => {
  const { sql, parameters } = database.fromNow(ms).compile(db);
  return [sql, ...parameters];
};

test('the time is the database’s where it has one', () => {
  const database = databaseOf('the_time()');
  expect(inSql(database)).toEqual(['(the_time() + 0)']);
  expect(inSql(database, -1_000.4)).toEqual(['(the_time() + -1000)']);
});

test('the time is a clock’s where one is given', () => {
  const clock = new TestClock(new Date(5_000));
  for (const expression of ['the_time()', null]) {
    expect(inSql(databaseOf(expression, clock), 20.6)).toEqual(['?', 5_021]);
  }
});

test('the time is this process’s where the database has none', () => {
  const before = Date.now();
  const [text, now] = inSql(databaseOf(null));
  expect(text).toBe('?');
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(Date.now());
});
