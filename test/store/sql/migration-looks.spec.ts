import Database from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { migrateSchema } from '../../../lib/store/sql/migrate-schema.js';
import { CREATE_MIGRATION_TABLE, MIGRATION_TABLE, SCHEMA_VERSION } from '../../../lib/store/sql/payment-schema.js';
import type { PaymentTables } from '../../../lib/store/sql/payment-tables.js';
import { run, SqlDatabase } from '../../../lib/store/sql/sql-database.js';
import type { SqlEngine } from '../../../lib/store/sql/sql-engine.js';
import { sqliteEngine } from '../../../lib/store/sql/sqlite.engine.js';

let db: Kysely<PaymentTables>;
let statements: string[];

beforeEach(() => {
  statements = [];
  db = new Kysely<PaymentTables>({
    dialect: new SqliteDialect({ database: new Database(':memory:') }),
    log: ({ query }) => void statements.push(query.sql),
  });
});
afterEach(() => db.destroy());

/** An engine whose lock runs these statements: what another process does while this one waits for it. */
function engineWith(take: readonly string[], release: readonly string[] = []): SqlEngine {
  const statements = (texts: readonly string[]) => texts.map((sql) => ({ sql }));
  return { ...sqliteEngine, migrationLock: { take: statements(take), release: statements(release) } };
}

const migrate = (engine: SqlEngine, mayMake = true) => migrateSchema(new SqlDatabase(db, engine), mayMake);
const versions = async () => await run(db, { sql: `select version from ${MIGRATION_TABLE} order by version` });
const hasPayments = async () =>
  (await run(db, { sql: `select name from sqlite_master where name = 'card_payment'` })).length > 0;

test('a table of migrations without any is filled: where statements commit by themselves, a process may have died', async () => {
  await run(db, { sql: CREATE_MIGRATION_TABLE });
  await migrate(sqliteEngine);
  expect((await versions()).at(-1)).toEqual({ version: SCHEMA_VERSION });
  expect(await hasPayments()).toBe(true);
});

test('a schema that became too new while this process waited for the lock is left alone', async () => {
  await run(db, { sql: CREATE_MIGRATION_TABLE });
  const newer = `insert into ${MIGRATION_TABLE} (version, lowest, applied_at) values (99, 99, 0)`;
  await expect(migrate(engineWith([newer]))).rejects.toThrow('newer than this release');
  expect(await hasPayments()).toBe(false);
});

test('a schema that another process made meanwhile is not made again', async () => {
  await run(db, { sql: CREATE_MIGRATION_TABLE });
  const made = `insert into ${MIGRATION_TABLE} (version, lowest, applied_at) values (${SCHEMA_VERSION}, 1, 0)`;
  await migrate(engineWith([made]));
  expect(await versions()).toEqual([{ version: SCHEMA_VERSION }]);
  expect(await hasPayments()).toBe(false);
});

test('the lock is given back', async () => {
  await run(db, { sql: 'create table released (times integer)' });
  await run(db, { sql: CREATE_MIGRATION_TABLE });
  await migrate(engineWith([], ['insert into released values (1)']));
  expect(await run(db, { sql: 'select times from released' })).toEqual([{ times: 1 }]);
});

test('the lock is given back where the schema cannot be made, too', async () => {
  await run(db, { sql: 'create table card_payment (unlike text)' });
  const release = 'select 1 as released';
  // Not toThrow: better-sqlite3's errors are made where it was loaded first, and are no Error of this file's then.
  const message = expect.stringContaining('card_payment already exists') as string;
  await expect(migrate(engineWith([], [release]))).rejects.toMatchObject({ message });
  expect(statements).toContain(release);
});

test('a schema that is up to date is used as it is, without the right to write', async () => {
  const before = Date.now();
  await migrate(sqliteEngine);
  const [row] = await run(db, { sql: `select applied_at from ${MIGRATION_TABLE}` });
  const { applied_at: appliedAt } = row as { applied_at: number };
  expect(appliedAt).toBeGreaterThanOrEqual(before);
  expect(appliedAt).toBeLessThanOrEqual(Date.now());
  statements = [];
  await migrate(sqliteEngine, true);
  await migrate(sqliteEngine, false);
  expect(statements.filter((text) => !text.startsWith('select'))).toEqual([]);
});
