import { PaymentReader, RefundReader } from '../../lib/settlement/records.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

/** What stands in the way of a repeated sale is in test/scripts/expected/direct.txt. */
describe('PaymentReader', () => {
  let store: MemoryPaymentStore;
  let reader: PaymentReader;
  beforeEach(() => {
    store = new MemoryPaymentStore();
    reader = new PaymentReader(store, { account: 'default' });
  });

  it('finds a payment as a payment alone, and a refund as a refund alone', async () => {
    const sale = aPaymentRecord({ state: 'succeeded' });
    const free = { conversationId: 'REFUND', idempotencyKey: null, referenceLock: null } as const;
    const refund = aPaymentRecord({ ...free, state: 'succeeded', kind: 'refund', parentId: sale.conversationId });
    for (const record of [sale, refund]) expect(await store.insert(record)).toBeNull();
    const readers = [reader, new RefundReader(store, { account: 'default' })];
    const found = (id: string) => Promise.all(readers.map((one) => one.find(id)));
    expect(await found(sale.conversationId)).toEqual([sale, null]);
    expect(await found('REFUND')).toEqual([null, refund]);
    await expect(readers[0]!.get('REFUND')).rejects.toThrow('There is no such payment.');
    await expect(readers[1]!.get(sale.conversationId)).rejects.toThrow('There is no such refund.');
  });

  it('returns the latest version of a payment, or the given one if the payment has been deleted', async () => {
    const record = aPaymentRecord({ state: 'succeeded' });
    expect(await reader.latest(record)).toEqual(record);
    await store.insert({ ...record, version: 4 });
    expect(await reader.latest(record)).toMatchObject({ version: 4 });
  });

  it('takes a payment of another kind for another sale, even if all else is the same', async () => {
    const first = aPaymentRecord({ state: 'awaiting', kind: '3d', idempotencyKey: 'key' });
    await store.insert(first);
    const repeated = { ...first, kind: 'direct', conversationId: 'REPEATED' } as const;
    const finding = reader.findEarlier(repeated, 'idempotencyKey', { gateways: [first.gateway ?? ''] });
    await expect(finding).rejects.toMatchObject({ code: 'PAYMENT_DUPLICATE', key: 'idempotencyKey' });
  });

  it.each(['a\0b', 'a\nb', '\ud800', ['x'], { $ne: '' }, undefined])(
    'looks nothing up for an id that no payment can have: %j',
    async (given) => {
      const broken = new Proxy({}, { get: () => () => Promise.reject(new Error('postgres://user:secret@host')) });
      const onBroken = new PaymentReader(broken as MemoryPaymentStore, { account: 'default' });
      const id = given as string;
      expect([await onBroken.find(id), await onBroken.findByReference(id)]).toEqual([null, []]);
    },
  );
});
