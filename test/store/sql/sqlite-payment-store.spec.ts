import { jest } from '@jest/globals';
import type { PaymentClock } from '../../../lib/payment/clock.js';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqlitePaymentStore } from '../../../lib/store/sql/index.js';
import { openSqliteFile } from '../../../lib/store/sql/sqlite-access.js';
import { aPaymentRecord, describePaymentStore } from '../../../lib/testing/index.js';

/** What SQLite calls `synchronous = FULL`. */
const FULL = 2;

const folder = mkdtempSync(join(tmpdir(), 'payments-'));
const file = join(folder, 'payments.db');

afterAll(() => rmSync(folder, { recursive: true }));

async function open(clock: PaymentClock) {
  const store = sqlitePaymentStore({ file, clock });
  await store.open();
  return store;
}

describePaymentStore('SQLite', { create: open, another: (_store, clock) => open(clock) });

test('written through to the disk, with a write-ahead log', async () => {
  const pragmas = join(folder, 'pragmas.db');
  const database = await openSqliteFile(pragmas);
  const valueOf = (name: string): unknown[] =>
    Object.values(Object(database.prepare(`pragma ${name}`).all([])[0]) as object);
  expect([valueOf('journal_mode'), valueOf('synchronous')]).toEqual([['wal'], [FULL]]);
  database.close();
});

test('a purge that takes long leaves the rest for the next', async () => {
  const store = sqlitePaymentStore({ file: join(folder, 'purge.db') });
  await store.open();
  const finalizedAt = new Date(Date.now() - 60_000);
  const records = Array.from({ length: 700 }, (_, number) =>
    aPaymentRecord({ conversationId: `OLD${number}`, reference: null, state: 'failed', finalizedAt }),
  );
  await Promise.all(records.map((record) => store.insert(record)));
  const retention = { paymentsMs: 1_000, pairsMs: 60_000, keysMs: 60_000 };
  // Each look at the clock is ten seconds after the last.
  let seconds = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => (seconds += 10) * 1_000);
  const first = await store.purge('default', retention);
  clock.mockRestore();
  expect(first).toEqual({ payments: 200, events: 0, hasMore: true });
  expect(await store.purge('default', retention)).toEqual({ payments: 500, events: 0 });
  await store.close();
});
