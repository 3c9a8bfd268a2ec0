import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PaymentOptions } from 'nestjs-card-payment';
import { startMerchant } from './merchant.js';
import { AMOUNT } from './payments/sale.js';
import { printTable } from './table.js';

const PAYMENTS = 100_000;
const STEP = 5_000;
const AT_ONCE = 20;
/** For each store; a slow machine makes fewer payments in that time. */
const MAX_MS = 80_000;
const RETENTION_MS = 3_600_000;
const PAUSE_MS = 2 * RETENTION_MS;

/** The heap of a process that makes many direct payments; after each step the old ones are purged. */
export async function benchMemory(): Promise<void> {
  // In memory where possible, since the disk is not measured here.
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'card-payment-bench-'));
  const file = join(folder, 'payments.db');
  await measure('the store in memory', { storeUrl: 'memory:', retentionMs: RETENTION_MS });
  await measure('SQLite', { storeUrl: `sqlite:${file}` });
  rmSync(folder, { recursive: true });
}

async function measure(store: string, options: PaymentOptions): Promise<void> {
  const { payments, clock, app } = await startMerchant(options);
  const began = performance.now();
  const rows: (string | number)[][] = [];
  let made = 0;
  const work = async (until: number): Promise<void> => {
    while (made < until) {
      made += 1;
      await payments.doPayment({
        reference: `order-${made}`,
        cardDetails: { cardNo: '4508034508034509', expDate: '1236', cvv: '000' },
        transactionDetails: { amount: AMOUNT, currencyCode: 949 },
        cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' },
      });
    }
  };
  while (made < PAYMENTS && performance.now() - began < MAX_MS) {
    const stepBegan = performance.now();
    const until = made + STEP;
    await Promise.all(Array.from({ length: AT_ONCE }, () => work(until)));
    const aSecond = Math.round((STEP * 1000) / (performance.now() - stepBegan));
    clock.ahead += PAUSE_MS;
    const { purged } = await payments.reconcile();
    globalThis.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    rows.push([made, megabytes(heapUsed), megabytes(rss), purged, aSecond]);
  }
  await app.close();
  printTable(
    `Memory of a process, ${store}`,
    ['payments', 'heap, MB', 'resident, MB', 'deleted', 'payments a second'],
    rows,
  );
}

function megabytes(bytes: number): string {
  return (bytes / 1_048_576).toFixed(1);
}
