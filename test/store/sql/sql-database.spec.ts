import { jest } from '@jest/globals';
import Database from 'better-sqlite3';
import { CompiledQuery, DummyDriver, Kysely, SqliteDialect } from 'kysely';
import { EventEmitter, once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import type { PaymentTables } from '../../../lib/store/sql/payment-tables.js';
import { compiled, SqlDatabase } from '../../../lib/store/sql/sql-database.js';
import type { SqlAccess } from '../../../lib/store/sql/sql-engine.js';
import { openSqliteFile, sqliteAccess, sqliteEngine } from '../../../lib/store/sql/engines/sqlite/sqlite.engine.js';
import { ask, Undo } from '../../../lib/store/sql/sql-transaction.js';

const BUSY = Object.assign(new Error('busy'), { code: 'SQLITE_BUSY' });

let statements: string[];
let database: SqlDatabase;

describe('sql database', () => {
  beforeEach(async () => {
    statements = [];
    const db = new Kysely<PaymentTables>({
      dialect: new SqliteDialect({ database: new Database(':memory:') }),
      log: ({ query }: { query: CompiledQuery }) => void statements.push(query.sql),
    });
    database = new SqlDatabase(db, sqliteEngine);
    await database.run({ sql: 'create table line (text)' });
    statements = [];
  });

  afterEach(() => database.db.destroy());

  const insert = { sql: 'insert into line values (?)', parameters: ['x'] };
  const lines = () => database.run({ sql: 'select text from line' });

  test('commits what the work did, and gives its outcome', async () => {
    await expect(database.transaction((db) => database.run(insert, db).then(() => 'done'))).resolves.toBe('done');
    expect(statements).toEqual(['begin immediate', insert.sql, 'commit']);
    await expect(lines()).resolves.toEqual([{ text: 'x' }]);
  });

  test('does one step after the other, each with what came of the last', async () => {
    const written = database.write(function* () {
      yield* ask(compiled(insert));
      const { rows } = yield* ask(compiled({ sql: 'select text from line' }));
      yield* ask(compiled({ ...insert, parameters: [`${rows.length} before`] }));
      return 'done';
    });
    await expect(written).resolves.toBe('done');
    await expect(lines()).resolves.toEqual([{ text: 'x' }, { text: '1 before' }]);
  });

  test('a commit that fails is a failure, and nothing is written', async () => {
    await database.run({ sql: 'pragma foreign_keys = on' });
    await database.run({ sql: 'create table page (line text references line(text) deferrable initially deferred)' });
    await database.run({ sql: 'create unique index line_text on line (text)' });
    const page = { sql: "insert into page values ('none')" };
    const failing = database.transaction((db) => database.run(insert, db).then(() => database.run(page, db)));
    await expect(failing).rejects.toMatchObject({ code: 'SQLITE_CONSTRAINT_FOREIGNKEY' });
    await expect(lines()).resolves.toEqual([]);
  });

  test('undoes everything when the work fails, and fails with it', async () => {
    const failing = database.transaction(async (db) => {
      await database.run(insert, db);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await expect(lines()).resolves.toEqual([]);
  });

  test('undoes everything when the work wants it, and gives an outcome', async () => {
    const undone = database.transaction(async (db): Promise<string> => {
      await database.run(insert, db);
      throw new Undo('taken');
    });
    await expect(undone).resolves.toBe('taken');
    await expect(lines()).resolves.toEqual([]);
  });

  test('does the whole work again when another process was in the way', async () => {
    let tries = 0;
    await database.transaction(async (db) => {
      await database.run(insert, db);
      if ((tries += 1) < 3) throw BUSY;
    });
    expect(tries).toBe(3);
    await expect(lines()).resolves.toHaveLength(1);
  });

  test('reads again when another process was in the way', async () => {
    let tries = 0;
    const query = { execute: () => ((tries += 1) < 3 ? Promise.reject(BUSY) : Promise.resolve(['row'])) };
    await expect(database.read(query)).resolves.toEqual(['row']);
  });

  describe('a statement alone', () => {
    const limit = { sql: 'select 1 as limited' };
    const limited = { ...sqliteEngine, limits: [limit] };
    const inOneTransaction = ['begin immediate', limit.sql, insert.sql, 'commit'];

    test('needs no transaction where nothing limits one', async () => {
      expect((await database.statement(compiled(insert))).numAffectedRows).toBe(1n);
      expect(statements).toEqual([insert.sql]);
    });

    test('is limited in time by a transaction, of sessions of which nothing is known', async () => {
      const own = new SqlDatabase(database.db, limited);
      expect((await own.statement(compiled(insert))).numAffectedRows).toBe(1n);
      expect(statements).toEqual(inOneTransaction);
    });

    test('needs no transaction where the sessions have their limits, and a transaction sets none', async () => {
      const own = new SqlDatabase(database.db, limited, { hasLimitedSessions: () => true });
      expect((await own.statement(compiled(insert))).numAffectedRows).toBe(1n);
      expect(statements).toEqual([insert.sql]);
      await own.transaction((db) => database.run(insert, db));
      expect(statements.slice(1)).toEqual(['begin immediate', insert.sql, 'commit']);
    });

    test('is tried again when another process was in the way', async () => {
      let tries = 0;
      const executeQuery = jest.spyOn(database.db, 'executeQuery').mockImplementation(() => {
        return (tries += 1) < 3 ? Promise.reject(BUSY) : Promise.resolve({ rows: [] });
      });
      await database.statement(compiled(insert));
      executeQuery.mockRestore();
      expect(tries).toBe(3);
    });
  });

  test('a query finds its rows where the database is not part of this process', async () => {
    await database.run(insert);
    expect(await database.find(CompiledQuery.raw('select text from line'))).toEqual([{ text: 'x' }]);
  });

  test('nothing is written to a database that did not open', async () => {
    const own = new SqlDatabase(database.db, sqliteEngine, { inProcess: () => null });
    const written = own.write(function* () {
      yield* ask(compiled(insert));
    });
    await expect(written).rejects.toThrow('the database is not open');
    expect(await lines()).toEqual([]);
  });

  describe('inside this process', () => {
    let access: SqlAccess;
    let own: SqlDatabase;
    const line = { ...CompiledQuery.raw(insert.sql, ['shared']) };
    const all = CompiledQuery.raw('select text from line');
    const writeLine = () =>
      own.write(function* () {
        return (yield* ask(line)).numAffectedRows;
      });

    beforeEach(async () => {
      access = sqliteAccess(SqliteDialect, () => openSqliteFile(':memory:'));
      const log = ({ query }: { query: CompiledQuery }) => void statements.push(query.sql);
      own = new SqlDatabase(new Kysely({ dialect: access.dialect, log }), sqliteEngine, access);
      await own.run({ sql: 'create table line (text)' });
      statements = [];
    });

    afterEach(() => own.db.destroy());

    test('nobody reads what another transaction has not committed, and nobody writes into it', async () => {
      const signal = new EventEmitter();
      const began = once(signal, 'began');
      const undone = own.transaction(async (db) => {
        await database.run(insert, db);
        signal.emit('began');
        await once(signal, 'end');
        throw new Error('no');
      });
      const outcome = expect(undone).rejects.toThrow('no');
      await began;
      const [read, written] = [own.find(all), writeLine()];
      await setImmediate();
      expect(access.inProcess?.()?.inTransaction).toBe(true);
      signal.emit('end');
      await outcome;
      expect(await written).toBe(1n);
      expect((await read).map((row) => (row as { text: string }).text)).not.toContain('x');
      expect(await own.find(all)).toEqual([{ text: 'shared' }]);
    });

    test('a query is run at once, without Kysely', async () => {
      await writeLine();
      expect(await own.find(all)).toEqual([{ text: 'shared' }]);
      expect(statements).toEqual([]);
    });

    test('a statement alone shares its commit with what is written at the same time', async () => {
      const begins = jest.spyOn(access.inProcess!()!, 'execute');
      const done = await Promise.all([own.statement(line), own.statement(line), own.statement(line)]);
      expect(done.map(({ numAffectedRows }) => numAffectedRows)).toEqual([1n, 1n, 1n]);
      const run = begins.mock.calls.map(([{ sql }]) => sql);
      expect(run.filter((one) => one === line.sql)).toHaveLength(3);
      expect(run.filter((one) => one === 'commit').length).toBeLessThan(3);
    });
  });

  test('a script of which the database runs only a part has failed', async () => {
    const dialect = new SqliteDialect({ database: new Database(':memory:') });
    dialect.createDriver = () => new DummyDriver();
    const silent = new SqlDatabase(new Kysely<PaymentTables>({ dialect }), sqliteEngine);
    await expect(silent.script([insert])).rejects.toThrow('did not run all statements');
    await silent.db.destroy();
  });
});
