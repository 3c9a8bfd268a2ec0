import Database from 'better-sqlite3';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlStore, paymentSchema } from '../../../../../lib/store/sql/index.js';
import { openSqliteFile, sqliteEngine } from '../../../../../lib/store/sql/engines/sqlite.js';
import { aPaymentRecord } from '../../../../rigs/a-payment-record.js';

let folder: string;

describe('sqlite engine', () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'payments-'));
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  test('a URL names the same file with slashes and without', async () => {
    const record = aPaymentRecord();
    for (const url of [`sqlite:${folder}/url.db`, `sqlite://${folder}/url.db`]) {
      const store = await openSqlStore(url);
      await store.open();
      if (url.includes('//')) expect(await store.find(record.account, record.conversationId)).toEqual(record);
      else expect(await store.insert(record)).toBeNull();
      await store.close();
    }
    expect(existsSync(join(folder, 'url.db'))).toBe(true);
  });

  test.each([
    [
      'no such folder',
      () => `sqlite:${folder}/none/x.db`,
      'the SQLite file cannot be opened; does its folder exist, and may this process write there? (SQLITE_CANTOPEN)',
    ],
    ['a folder', () => `sqlite:${folder}`, /^the SQLite file cannot be opened; .* \(SQLITE_CANTOPEN/],
    [
      'no database',
      () => {
        writeFileSync(join(folder, 'text.db'), 'This is a text, and long enough to be looked at.'.repeat(100));
        return `sqlite:${folder}/text.db`;
      },
      'the SQLite file is damaged, or no SQLite database (SQLITE_NOTADB)',
    ],
  ] as const)('%s: a start-up error that says so', async (_name, url, message) => {
    const store = await openSqlStore(url());
    await expect(store.open()).rejects.toThrow(message);
    await store.close();
  });

  test('a file that must exist is not made, and keeps its mode', async () => {
    const [none, other] = ['none.db', 'other.db'].map((name) => join(folder, name)) as [string, string];
    await expect(openSqliteFile(none, true)).rejects.toThrow(`there is no SQLite file ${none}`);
    expect(existsSync(none)).toBe(false);
    new Database(other).exec('create table t (a text)').close();
    (await openSqliteFile(other, true)).close();
    const database = new Database(other);
    expect(database.pragma('journal_mode', { simple: true })).toBe('delete');
    database.close();
    const opened = await sqliteEngine.open(`sqlite:${none}`, { mustExist: true });
    expect(opened.hasLimitedSessions()).toBe(true);
  });

  test('a file that is no database is not opened, and is left as it is', async () => {
    const file = join(folder, 'letter.db');
    writeFileSync(file, 'This is a text, and long enough to be looked at.'.repeat(100), { mode: 0o644 });
    for (const mustExist of [false, true]) {
      await expect(openSqliteFile(file, mustExist)).rejects.toMatchObject({ code: 'SQLITE_NOTADB' });
    }
    expect(statSync(file).mode & 0o777).toBe(0o644);
    await expect(openSqliteFile(folder)).rejects.toMatchObject({ code: 'SQLITE_CANTOPEN' });
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  test.each([
    ['new', () => undefined],
    ['of an older release', (file: string) => new Database(file).exec('create table t (a text)').close()],
  ])('a file that is %s can be read by its owner alone, as can those beside it', async (name, make) => {
    const file = join(folder, `${name}.db`);
    const umask = process.umask(0);
    try {
      make(file);
      const [first, second] = [await openSqliteFile(file), await openSqliteFile(file)];
      second.prepare('create table record (a text)').run([]);
      const modes = ['', '-wal', '-shm'].map((ending) => statSync(file + ending).mode & 0o777);
      expect(modes).toEqual([0o600, 0o600, 0o600]);
      first.close();
      second.close();
    } finally {
      process.umask(umask);
    }
  });

  test('SQLite itself does not wait for another process, which would stop this one', async () => {
    const connection = await openSqliteFile(':memory:');
    expect(connection.prepare('pragma busy_timeout').all([])).toEqual([{ timeout: 0 }]);
    connection.close();
  });

  test('the journal of savepoints is kept in memory, not in a file', async () => {
    const connection = await openSqliteFile(':memory:');
    expect(connection.prepare('pragma temp_store').all([])).toEqual([{ temp_store: 2 }]);
    connection.close();
  });

  test('a statement is prepared once, and no more than 200 are kept', async () => {
    const connection = await openSqliteFile(':memory:');
    const [first, ...others] = Array.from({ length: 200 }, (_, number) => connection.prepare(`select ${number}`));
    expect(connection.prepare('select 0')).toBe(first);
    expect(connection.prepare('select 199')).toBe(others.at(-1));
    connection.prepare('select 200');
    expect(connection.prepare('select 0')).not.toBe(first);
    connection.close();
  });

  test('the tables and indexes are as small as SQLite can make them, and their time is right', () => {
    const database = new Database(':memory:');
    database.exec(paymentSchema('sqlite'));
    const tables = database
      .prepare(
        `select t.name as name, t.wr as compact, group_concat(distinct c.type) as types from pragma_table_list as t
       join pragma_table_info(t.name) as c where t.name like 'card_payment%' group by t.name order by t.name`,
      )
      .all();
    expect(tables).toEqual([
      { name: 'card_payment', compact: 0, types: 'TEXT,INTEGER,bigint' },
      { name: 'card_payment_delivery', compact: 0, types: 'TEXT,INTEGER,bigint' },
      { name: 'card_payment_handler', compact: 1, types: 'TEXT,bigint' },
      { name: 'card_payment_name', compact: 1, types: 'TEXT,bigint' },
      { name: 'card_payment_schema', compact: 0, types: 'INTEGER,bigint' },
      { name: 'card_payment_version', compact: 0, types: 'TEXT,INTEGER' },
    ]);
    const indexes = database.prepare(`select sql from sqlite_master where name = 'card_payment_due'`).get();
    expect(indexes).toEqual({ sql: expect.stringMatching(/ where due_at is not null$/) });
    const row = database.prepare('select applied_at from card_payment_schema').get() as { applied_at: number };
    expect(Math.abs(Date.now() - row.applied_at)).toBeLessThan(60_000);
    database.close();
  });
});
