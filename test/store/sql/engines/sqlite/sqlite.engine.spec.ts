import Database from 'better-sqlite3';
import * as kysely from 'kysely';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openSqlStore } from '../../../../../lib/store/sql/index.js';
import { openSqliteFile, sqliteEngine } from '../../../../../lib/store/sql/engines/sqlite.js';
import { makeScratchFolder } from '../../../../rigs/scratch-folder.js';
import { openedStoreAt } from '../../../../rigs/shared-stores.js';

describe('sqlite engine', () => {
  const { path: folder, remove } = makeScratchFolder('sqlite-engine');
  afterAll(remove);

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
    const opened = sqliteEngine.access(kysely, `sqlite:${none}`, true);
    expect(opened.hasLimitedSessions()).toBe(true);
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

  test.each([
    // Otherwise it would stop this process while another one writes.
    ['busy_timeout', 0],
    // The journal of savepoints is kept in memory.
    ['temp_store', 2],
    ['journal_mode', 'wal'],
    // Full: what is committed is on the disk.
    ['synchronous', 2],
  ])('%s is %s', async (name, value) => {
    const connection = await openSqliteFile(join(folder, 'pragmas.db'));
    expect(Object.values(Object(connection.prepare(`pragma ${name}`).all([])[0]) as object)).toEqual([value]);
    connection.close();
  });

  test('opened while another process writes, it waits until that one is done', async () => {
    const file = join(folder, 'shared.db');
    await (await openedStoreAt(`sqlite:${file}`)).close();
    const other = new Database(file);
    other.exec('begin immediate');
    const opening = openedStoreAt(`sqlite:${file}`);
    const isOpen = await Promise.race([opening.then(() => true), delay(200, false)]);
    other.exec('commit').close();
    await (await opening).close();
    expect(isOpen).toBe(false);
  });
});
