import Database from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { sqliteEngine } from '../../../lib/store/sql/engines/sqlite/sqlite.engine.js';
import {
  createMigrationTable,
  MIGRATION_TABLE,
  migrateSchema,
  SCHEMA_VERSION,
} from '../../../lib/store/sql/payment-schema.js';
import type { PaymentTables } from '../../../lib/store/sql/payment-tables.js';
import { SqlDatabase } from '../../../lib/store/sql/sql-database.js';
import type { SqlEngine } from '../../../lib/store/sql/sql-engine.js';

const CREATE_MIGRATION_TABLE = createMigrationTable(sqliteEngine.schema);

let db: Kysely<PaymentTables>;
let statements: string[];

describe('payment schema changes', () => {
  beforeEach(() => {
    statements = [];
    db = new Kysely<PaymentTables>({
      dialect: new SqliteDialect({ database: new Database(':memory:') }),
      log: ({ query }) => void statements.push(query.sql),
    });
  });
  afterEach(() => db.destroy());

  /** An engine that runs a statement before a change of the schema: what another process does while this one waits. */
  function engineAfter(sql: string): SqlEngine {
    const changeSchema: SqlEngine['changeSchema'] = async (database, change) => {
      await database.run({ sql });
      await sqliteEngine.changeSchema(database, change);
    };
    return { ...sqliteEngine, changeSchema };
  }

  const migrate = (engine: SqlEngine, mayMigrate = true) =>
    migrateSchema(new SqlDatabase(db, engine), engine, mayMigrate);
  const run = (sql: string) => new SqlDatabase(db, sqliteEngine).run({ sql });
  const versions = async () => await run(`select version from ${MIGRATION_TABLE} order by version`);
  const hasPayments = async () => (await run(`select name from sqlite_master where name = 'card_payment'`)).length > 0;

  test('a table of migrations without any is filled: where statements commit by themselves, a process may have died', async () => {
    await run(CREATE_MIGRATION_TABLE);
    await migrate(sqliteEngine);
    expect((await versions()).at(-1)).toEqual({ version: SCHEMA_VERSION });
    expect(await hasPayments()).toBe(true);
  });

  test('a schema that became too new while this process waited for the lock is left alone', async () => {
    await run(CREATE_MIGRATION_TABLE);
    const newer = `insert into ${MIGRATION_TABLE} (version, lowest, applied_at) values (99, 99, 0)`;
    await expect(migrate(engineAfter(newer))).rejects.toThrow('newer than this release');
    expect(await hasPayments()).toBe(false);
  });

  test('a schema that another process made meanwhile is not made again', async () => {
    await run(CREATE_MIGRATION_TABLE);
    const made = `insert into ${MIGRATION_TABLE} (version, lowest, applied_at) values (${SCHEMA_VERSION}, 1, 0)`;
    await migrate(engineAfter(made));
    expect(await versions()).toEqual([{ version: SCHEMA_VERSION }]);
    expect(await hasPayments()).toBe(false);
  });

  test('a schema that cannot be made whole is not made at all', async () => {
    await run('create table card_payment_event (unlike text)');
    // Not toThrow: better-sqlite3's errors are made where it was loaded first, and are no Error of this file's then.
    const message = expect.stringContaining('card_payment_event already exists') as string;
    await expect(migrate(sqliteEngine)).rejects.toMatchObject({ message });
    expect(await hasPayments()).toBe(false);
  });

  test('where the schema is not changed by a transaction, each statement is run as the engine says', async () => {
    const applied: string[] = [];
    // A database that commits each statement by itself: what a process did before it died is passed over.
    const changeSchema: SqlEngine['changeSchema'] = (database, change) =>
      change(async (statement) => {
        applied.push(statement.sql);
        return database.run(statement).catch((error: Error) => {
          if (!error.message.includes('already exists')) throw error;
          return [];
        });
      });
    await run(CREATE_MIGRATION_TABLE);
    await run('create table card_payment_handler (account text, type text, handler_id text, announced_at bigint)');
    await migrate({ ...sqliteEngine, changeSchema });
    expect((await versions()).at(-1)).toEqual({ version: SCHEMA_VERSION });
    expect(await hasPayments()).toBe(true);
    expect(applied.filter((sql) => sql.startsWith('create table card_payment_handler'))).toHaveLength(1);
  });

  test('a schema that is up to date is used as it is, without the right to write', async () => {
    const before = Date.now();
    await migrate(sqliteEngine);
    const [row] = await run(`select applied_at from ${MIGRATION_TABLE}`);
    const { applied_at: appliedAt } = row as { applied_at: number };
    expect(appliedAt).toBeGreaterThanOrEqual(before);
    expect(appliedAt).toBeLessThanOrEqual(Date.now());
    statements = [];
    await migrate(sqliteEngine, true);
    await migrate(sqliteEngine, false);
    expect(statements.filter((text) => !text.startsWith('select'))).toEqual([]);
  });
});
