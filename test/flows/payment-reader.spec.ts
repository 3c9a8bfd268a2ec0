import { PaymentReader } from '../../lib/flows/payment-reader.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { aPaymentRecord } from '../../lib/testing/a-payment.js';

const TWIN = aPaymentRecord({ state: 'charging', conversationId: 'TWIN', version: 1, idempotencyKey: 'key-1' });

describe('PaymentReader', () => {
  let store: MemoryPaymentStore;
  let reader: PaymentReader;

  beforeEach(() => {
    store = new MemoryPaymentStore();
    reader = new PaymentReader(store, { account: 'default' });
  });

  it('sees the payments of its own account alone', async () => {
    const record = aPaymentRecord({ state: 'succeeded', tokenHash: 'hash' });
    await store.insert({ ...record, account: 'other' });
    expect(await reader.find(record.conversationId)).toBeNull();
    expect(await reader.findByTokenHash('hash')).toBeNull();
    expect(await reader.findByReference(record.reference!)).toEqual([]);
    expect(await reader.findRepeated(record, 'idempotencyKey')).toBeNull();
    await store.insert(record);
    expect(await reader.find(record.conversationId)).toEqual(record);
    expect(await reader.findByTokenHash('hash')).toEqual(record);
    expect(await reader.findByReference(record.reference!)).toEqual([record]);
  });

  it('gives the latest of a payment, or what it was given where that is gone', async () => {
    const record = aPaymentRecord({ state: 'succeeded' });
    expect(await reader.latest(record)).toEqual(record);
    await store.insert({ ...record, version: 4 });
    expect(await reader.latest(record)).toMatchObject({ version: 4 });
  });

  it.each<[string, (reader: PaymentReader) => Promise<unknown>]>([
    ['find', (reader) => reader.find('x')],
    ['findByTokenHash', (reader) => reader.findByTokenHash('x')],
    ['findByReference', (reader) => reader.findByReference('x')],
    ['history', (reader) => reader.history('x')],
    ['findRepeated', (reader) => reader.findRepeated(aPaymentRecord({ state: 'charging' }), 'idempotencyKey')],
  ])('%s says no more than that the store failed', async (_name, read) => {
    const broken = new Proxy(store, { get: () => () => Promise.reject(new Error('postgres://user:secret@host')) });
    const failure = await read(new PaymentReader(broken, { account: 'default' })).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'PAYMENT_STORE',
      message: 'The payment store failed while reading. No money was moved by this call.',
    });
  });

  it('gives every change of a payment of its own account', async () => {
    const record = aPaymentRecord({ state: 'succeeded' });
    await store.insert({ ...record, account: 'other' });
    expect(await reader.history(record.conversationId)).toEqual([]);
    await store.insert(record);
    expect(await reader.history(record.conversationId)).toMatchObject([{ state: 'succeeded' }]);
  });

  it.each([
    'a\0b',
    'a\nb',
    '\ud800',
    ['x'] as unknown as string,
    { $ne: '' } as unknown as string,
    undefined as unknown as string,
  ])('does not ask the store for what no payment can have: %j', async (id) => {
    const broken = new Proxy(store, { get: () => () => Promise.reject(new Error('invalid byte sequence')) });
    const asking = new PaymentReader(broken, { account: 'default' });
    expect(await asking.find(id)).toBeNull();
    expect(await asking.findByReference(id)).toEqual([]);
  });

  describe('a sale that was made before', () => {
    const first = aPaymentRecord({ state: 'charging', conversationId: 'FIRST', idempotencyKey: 'key-1' });

    beforeEach(() => store.insert(first));

    it('is found by its key, and by its id', async () => {
      expect(await reader.findRepeated(TWIN, 'idempotencyKey')).toEqual(first);
      expect(
        await reader.findRepeated({ ...TWIN, conversationId: 'FIRST', idempotencyKey: null }, 'idempotencyKey'),
      ).toEqual(first);
      expect(await reader.findRepeated({ ...TWIN, idempotencyKey: null }, 'idempotencyKey')).toBeNull();
      expect(await reader.findRepeated({ ...TWIN, idempotencyKey: 'key-2' }, 'idempotencyKey')).toBeNull();
    });

    it.each<[string, Partial<PaymentRecord>]>([
      ['kind', { kind: '3d' }],
      ['reference', { reference: 'order-2' }],
      ['amount', { amount: '149.91' }],
      ['currency', { currencyCode: 978 }],
      ['instalment count', { installmentCount: 2 }],
      ['card', { maskedCardNumber: '524677******3508' }],
    ])('is not the same with another %s', async (_what, change) => {
      await expect(reader.findRepeated({ ...TWIN, ...change }, 'idempotencyKey')).rejects.toMatchObject({
        code: 'PAYMENT_DUPLICATE',
        payment: { conversationId: 'FIRST' },
        message: expect.stringContaining('idempotencyKey') as string,
      });
      const sameId = { ...TWIN, ...change, conversationId: 'FIRST', idempotencyKey: null };
      await expect(reader.findRepeated(sameId, 'idempotencyKey')).rejects.toThrow(/conversationId/);
    });

    it('is found by id and key at once', async () => {
      expect(await reader.findRepeated({ ...TWIN, conversationId: 'FIRST' }, 'conversationId')).toEqual(first);
    });

    it('is refused where it has been deleted, and only its key or its id is still known', async () => {
      store.findByIdempotencyKey = () => Promise.resolve('purged');
      await expect(reader.findRepeated(TWIN, 'idempotencyKey')).rejects.toMatchObject({
        code: 'PAYMENT_DUPLICATE',
        message: expect.stringContaining('idempotencyKey') as string,
        payment: null,
      });
      const gone = { ...TWIN, conversationId: 'GONE', idempotencyKey: null };
      await expect(reader.findRepeated(gone, 'conversationId')).rejects.toMatchObject({
        code: 'PAYMENT_DUPLICATE',
        message: expect.stringContaining('conversationId') as string,
        payment: null,
      });
      const known = { ...TWIN, conversationId: 'FIRST', idempotencyKey: null };
      expect(await reader.findRepeated(known, 'conversationId')).toEqual(first);
    });

    it('is not one sale where id and key are two', async () => {
      await store.insert({ ...first, conversationId: 'SECOND', idempotencyKey: 'key-2', referenceLock: null });
      await expect(
        reader.findRepeated({ ...TWIN, conversationId: 'FIRST', idempotencyKey: 'key-2' }, 'idempotencyKey'),
      ).rejects.toMatchObject({ payment: { conversationId: 'SECOND' } });
    });
  });
});
