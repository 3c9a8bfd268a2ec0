import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import { StoreTime } from '../../../lib/store/sql/store-time.js';
import { TestClock } from '../../../lib/testing/index.js';

const db = new Kysely<never>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (one) => new SqliteIntrospector(one),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});
const inSql = (time: StoreTime, ms?: number) => {
  const { sql, parameters } = time.fromNow(ms).compile(db);
  return [sql, ...parameters];
};

test('the time is the database’s, where it says what that is', () => {
  const time = new StoreTime('the_time()');
  expect(inSql(time)).toEqual(['(the_time() + 0)']);
  expect(inSql(time, -1_000.4)).toEqual(['(the_time() + -1000)']);
});

test('the time is a clock’s, where one is given', () => {
  const clock = new TestClock(new Date(5_000));
  for (const expression of ['the_time()', null]) {
    expect(inSql(new StoreTime(expression, clock), 20.6)).toEqual(['?', 5_021]);
  }
});

test('the time is this process’s, where the database says none', () => {
  const before = Date.now();
  const [text, now] = inSql(new StoreTime(null));
  expect(text).toBe('?');
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(Date.now());
});
