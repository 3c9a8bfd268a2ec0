import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'undici';
import { startMerchant } from './merchant.js';
import { AMOUNT } from './payments/sale.js';
import { median, printTable } from './table.js';

const AT_ONCE = 1_000;
const ROUNDS = 5;

/** The memory that a payment and its connection need while the gateway has not answered. */
export async function benchInFlight(): Promise<void> {
  const gateway = fork(new URL('in-flight/gateway-process.mjs', import.meta.url), [String(AT_ONCE)]);
  const [port] = (await once(gateway, 'message')) as [number];
  const dispatcher = new Agent({ keepAliveTimeout: 1 });
  const { payments, app } = await startMerchant({ baseUrl: `http://127.0.0.1:${port}`, dispatcher });
  const pay = (reference: string) =>
    payments.doPayment({
      reference,
      cardDetails: { cardNo: '4508034508034509', expDate: '1236', cvv: '000' },
      transactionDetails: { amount: AMOUNT, currencyCode: 949 },
      cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' },
    });

  const rows: (string | number)[][] = [];
  const heaps: number[] = [];
  const residents: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const before = memory();
    const allWait = once(gateway, 'message');
    const running = Array.from({ length: AT_ONCE }, (_, number) => pay(`order-${round}-${number}`));
    await allWait;
    const during = memory();
    gateway.send('answer');
    await Promise.all(running);
    const heap = (during.heap - before.heap) / AT_ONCE;
    const resident = (during.resident - before.resident) / AT_ONCE;
    rows.push([round === 0 ? 'first' : round, AT_ONCE, kilobytes(heap), kilobytes(resident)]);
    // The first round also loads and compiles; later rounds use the memory again that it took from the system.
    if (round === 0) continue;
    heaps.push(heap);
    residents.push(resident);
  }
  rows.push(['median', AT_ONCE, kilobytes(median(heaps)), kilobytes(median(residents))]);
  await app.close();
  await dispatcher.destroy();
  gateway.disconnect();
  printTable(
    'Memory of payments in flight, each with its connection',
    ['round', 'in flight', 'heap, KB each', 'resident, KB each'],
    rows,
  );
}

function memory(): { readonly heap: number; readonly resident: number } {
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, resident: rss };
}

function kilobytes(bytes: number): string {
  return (bytes / 1024).toFixed(1);
}
