import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { sqlitePaymentStore } from 'nestjs-card-payment/sql';
import { startMerchant } from './merchant.js';
import { awaitingRecord } from './records.js';
import { median, printTable } from './table.js';

const STORED = [10_000, 1_000_000];
const DUE = 1_000;
const IDLE_PASSES = 20;

/** What a pass costs when the same number of payments is due among few stored payments and among many. */
export async function benchReconciler(): Promise<void> {
  const rows: (string | number)[][] = [];
  for (const stored of STORED) {
    const folder = mkdtempSync(join(tmpdir(), 'card-payment-bench-'));
    const file = join(folder, 'payments.db');
    await storeDue(file);
    storeSettled(file, stored - DUE);
    const { payments, app } = await startMerchant({ storeUrl: `sqlite:${file}`, background: false });
    const passes: number[] = [];
    for (let settled = 0; settled < DUE;) {
      const began = performance.now();
      const counts = await payments.reconcile();
      passes.push(performance.now() - began);
      settled += counts.settled;
    }
    const idle: number[] = [];
    for (let pass = 0; pass < IDLE_PASSES; pass += 1) {
      const began = performance.now();
      await payments.reconcile();
      idle.push(performance.now() - began);
    }
    await app.close();
    rmSync(folder, { recursive: true });
    const all = passes.reduce((sum, ms) => sum + ms);
    rows.push([
      stored,
      DUE,
      passes.length,
      all.toFixed(0),
      median(passes).toFixed(0),
      Math.max(...passes).toFixed(0),
      median(idle).toFixed(2),
    ]);
  }
  printTable(
    'Reconciler on SQLite: payments settled by inquiry',
    ['stored', 'due', 'passes', 'all, ms', 'pass, median', 'pass, longest', 'idle pass, median'],
    rows,
  );
}

/** Unknown payments, due to be asked about now. */
async function storeDue(file: string): Promise<void> {
  const store = sqlitePaymentStore({ file });
  await store.open();
  const now = new Date();
  for (let number = 0; number < DUE; number += 1) {
    const record = awaitingRecord(number, now);
    await store.insert({ ...record, state: 'unknown', referenceLock: record.reference, expiresAt: null, dueAt: now });
  }
  await store.close();
}

/** Settled payments, each with its history, its event and its lock, as in a store in long use. */
function storeSettled(file: string, count: number): void {
  const db = new Database(file);
  db.pragma('synchronous = OFF');
  const record = JSON.stringify({ ...awaitingRecord(0), state: 'succeeded', version: 3, dueAt: null });
  const numbers = `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})`;
  const at = Date.now() - 86_400_000;
  db.transaction(() => {
    db.prepare(
      `${numbers} insert into card_payment
       (account, conversation_id, version, state, reference, token_hash, created_at, updated_at, finalized_at, record)
       select 'default', printf('OLD%017d', n), 3, 'succeeded', 'old-' || n, printf('%064d', n + 1000000000),
       ${at} + n, ${at} + n, ${at} + n, ? from numbers`,
    ).run(record);
    db.prepare(
      `${numbers} insert into card_payment_reference_lock (account, reference, conversation_id)
       select 'default', 'old-' || n, printf('OLD%017d', n) from numbers`,
    ).run();
    db.prepare(
      `${numbers} insert into card_payment_history (account, conversation_id, version, entry)
       select 'default', printf('OLD%017d', n), version, '{"version":1,"state":"succeeded"}'
       from numbers, (select 1 as version union select 2 union select 3)`,
    ).run();
    db.prepare(
      `${numbers} insert into card_payment_event
       (account, event_id, conversation_id, version, type, occurred_at, waiting, event)
       select 'default', printf('OLD%017d:3', n), printf('OLD%017d', n), 3, 'payment.succeeded', ${at} + n, 0, ?
       from numbers`,
    ).run(record);
  })();
  db.close();
}
