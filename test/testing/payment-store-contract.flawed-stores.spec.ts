import type { PaymentStore } from '../../lib/store/payment-store.js';
import { paymentStoreContract } from '../../lib/testing/index.js';
import { LostOutboxRowStore, ReadThenWriteStore, UnlockedReferenceStore } from './flawed-stores.js';

async function failures(create: () => PaymentStore): Promise<string[]> {
  const failed: string[] = [];
  for (const check of paymentStoreContract) {
    await check.run({ create: () => Promise.resolve(create()) }).catch(() => failed.push(check.name));
  }
  return failed;
}

describe('the contract suite finds', () => {
  test('a store that reads, then writes', async () => {
    expect(await failures(() => new ReadThenWriteStore())).toEqual([
      expect.stringContaining('replace: of 16 at once from one version, one is written'),
      expect.stringContaining('replace: one payment, many changes'),
    ]);
  });

  test('a store that loses an outbox row', async () => {
    expect(await failures(() => new LostOutboxRowStore())).toEqual(
      expect.arrayContaining([expect.stringContaining('replace: of 16 at once from one version, one is written')]),
    );
  });

  test('a store that does not lock the reference', async () => {
    expect(await failures(() => new UnlockedReferenceStore())).toEqual(
      expect.arrayContaining([expect.stringContaining('referenceLock: of 16 payments that reach for it at once')]),
    );
  });
});
