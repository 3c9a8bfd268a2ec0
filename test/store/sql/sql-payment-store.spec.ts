import Database from 'better-sqlite3';
import { Kysely, SqliteDialect } from 'kysely';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqlitePaymentStore, sqlPaymentStore } from '../../../lib/store/sql/index.js';
import { TestClock } from '../../../lib/testing/index.js';
import { aPaymentRecord } from '../../rigs/a-payment-record.js';

let folder: string;
let files = 0;

describe('sql payment store', () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'payments-'));
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  const newFile = () => join(folder, `${(files += 1)}.db`);

  test('closes the connection that it made, and not that of a host', async () => {
    const own = sqlitePaymentStore({ file: newFile() });
    await own.open();
    await own.close();
    await expect(own.find('default', 'none')).rejects.toThrow();
    const database = new Database(newFile());
    const db = new Kysely<object>({ dialect: new SqliteDialect({ database }) });
    const hosted = sqlPaymentStore({ db, dialect: 'sqlite' });
    await hosted.open();
    await hosted.close();
    expect(await hosted.find('default', 'none')).toBeNull();
    await db.destroy();
  });

  test('makes its tables unless it is told not to', async () => {
    const file = newFile();
    const checking = sqlitePaymentStore({ file, migrate: false });
    await expect(checking.open()).rejects.toThrow('npx nestjs-card-payment schema');
    await checking.close();
    for (const migrate of [true, false]) {
      const store = sqlitePaymentStore({ file, migrate });
      await store.open();
      const record = aPaymentRecord();
      expect(await store.find(record.account, record.conversationId)).toBeNull();
      await store.close();
    }
  });

  test('tells the time of its clock', async () => {
    const time = new Date('2026-03-01T09:00:00Z');
    const store = sqlitePaymentStore({ file: newFile(), clock: new TestClock(time) });
    await store.open();
    expect(await store.now()).toEqual(time);
    await store.close();
  });
});
