import type { PaymentClock } from '../../../lib/payment/clock.js';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqlitePaymentStore } from '../../../lib/store/sql/index.js';
import { describePaymentStore } from '../../../lib/testing/index.js';

const folder = mkdtempSync(join(tmpdir(), 'payments-'));
const file = join(folder, 'payments.db');

afterAll(() => rmSync(folder, { recursive: true }));

async function open(clock?: PaymentClock, path = file) {
  const store = sqlitePaymentStore({ file: path, ...(clock && { clock }) });
  await store.open();
  return store;
}

describePaymentStore('SQLite', { create: open, another: (_store, clock) => open(clock) });

test('written through to the disk, with a write-ahead log', async () => {
  const pragmas = join(folder, 'pragmas.db');
  const store = await open(undefined, pragmas);
  expect(existsSync(`${pragmas}-wal`)).toBe(true);
  await store.close();
  expect(existsSync(`${pragmas}-wal`)).toBe(false);
});
