import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { PaymentClock } from '../../../../../lib/runtime/clock.js';
import { sqlitePaymentStore } from '../../../../../lib/store/sql/index.js';
import { openSqliteFile } from '../../../../../lib/store/sql/engines/sqlite.js';
import { describeLikeMemory } from '../../../like-memory.js';
import { describePaymentStore } from '../../../contract/payment-store-contract.js';

/** What SQLite calls `synchronous = FULL`. */
const FULL = 2;

let folder: string;

describe('sqlite payment store', () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'payments-'));
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  describePaymentStore('SQLite', { create: open, another: (_store, clock) => open(clock) });
  describeLikeMemory('SQLite', open);

  test('written through to the disk, with a write-ahead log', async () => {
    const pragmas = join(folder, 'pragmas.db');
    const database = await openSqliteFile(pragmas);
    const valueOf = (name: string): unknown[] =>
      Object.values(Object(database.prepare(`pragma ${name}`).all([])[0]) as object);
    expect([valueOf('journal_mode'), valueOf('synchronous')]).toEqual([['wal'], [FULL]]);
    database.close();
  });

  test('opened while another process writes, it waits until that one is done', async () => {
    const file = join(folder, 'shared.db');
    const first = sqlitePaymentStore({ file });
    await first.open();
    await first.close();
    const other = await openSqliteFile(file);
    other.prepare('begin immediate').run([]);
    const store = sqlitePaymentStore({ file });
    const opening = store.open();
    const isOpen = await Promise.race([opening.then(() => true), delay(200, false)]);
    other.prepare('commit').run([]);
    await opening;
    expect(isOpen).toBe(false);
    other.close();
    await store.close();
  });
});

async function open(clock: PaymentClock) {
  const store = sqlitePaymentStore({ file: join(folder, 'payments.db'), clock });
  await store.open();
  return store;
}
