import { PaymentReader } from '../../lib/settlement/records.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

/** The same sale as the first payment, under another conversationId. */
const REPEATED = aPaymentRecord({
  state: 'charging',
  conversationId: 'SECOND_CALL',
  version: 1,
  idempotencyKey: 'key-1',
});

const OWN = { gateways: ['gateway.example 0123456789abcdef'] } as const;

describe('PaymentReader', () => {
  let store: MemoryPaymentStore;
  let reader: PaymentReader;

  beforeEach(() => {
    store = new MemoryPaymentStore();
    reader = new PaymentReader(store, { account: 'default' });
  });

  it('finds only the payments of its own account', async () => {
    const record = aPaymentRecord({ state: 'succeeded', tokenHash: 'hash' });
    await store.insert({ ...record, account: 'other' });
    expect(await reader.find(record.conversationId)).toBeNull();
    expect(await reader.findByTokenHash('hash')).toBeNull();
    expect(await reader.findByReference(record.reference!)).toEqual([]);
    expect(await reader.findEarlier(record, 'idempotencyKey', OWN)).toBeNull();
    await store.insert(record);
    expect(await reader.find(record.conversationId)).toEqual(record);
    expect(await reader.findByTokenHash('hash')).toEqual(record);
    expect(await reader.findByReference(record.reference!)).toEqual([record]);
  });

  it('returns the latest version of a payment, or the given one if the payment has been deleted', async () => {
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
    ['findEarlier', (reader) => reader.findEarlier(aPaymentRecord({ state: 'charging' }), 'idempotencyKey', OWN)],
  ])('%s throws PAYMENT_STORE without details when the store fails', async (_name, read) => {
    const broken = new Proxy(store, { get: () => () => Promise.reject(new Error('postgres://user:secret@host')) });
    const failure = await read(new PaymentReader(broken, { account: 'default' })).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'PAYMENT_STORE',
      message: 'The payment store failed while reading. No money was moved by this call.',
    });
  });

  it('returns the history of a payment of its own account', async () => {
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
  ])('does not query the store for an id that no payment can have: %j', async (id) => {
    const broken = new Proxy(store, { get: () => () => Promise.reject(new Error('invalid byte sequence')) });
    const brokenReader = new PaymentReader(broken, { account: 'default' });
    expect(await brokenReader.find(id)).toBeNull();
    expect(await brokenReader.findByReference(id)).toEqual([]);
  });

  describe('a repeated sale', () => {
    const names = { conversationId: 'FIRST', idempotencyKey: 'key-1', referenceLock: null };
    const first = aPaymentRecord({ state: 'charging', ...names });

    beforeEach(() => store.insert(first));

    it('is recognised by its key or by its id', async () => {
      const byKey = { payment: first, key: 'idempotencyKey' };
      expect(await reader.findEarlier(REPEATED, 'idempotencyKey', OWN)).toEqual(byKey);
      const sameId = { ...REPEATED, conversationId: 'FIRST', idempotencyKey: null };
      expect(await reader.findEarlier(sameId, 'conversationId', OWN)).toEqual({
        payment: first,
        key: 'conversationId',
      });
      expect(await reader.findEarlier({ ...REPEATED, idempotencyKey: null }, 'idempotencyKey', OWN)).toBeNull();
      expect(await reader.findEarlier({ ...REPEATED, idempotencyKey: 'key-2' }, 'idempotencyKey', OWN)).toBeNull();
    });

    it.each<[string, Partial<PaymentRecord>]>([
      ['kind', { kind: '3d' }],
      ['reference', { reference: 'order-2' }],
      ['amount', { amount: '149.91' }],
      ['currency', { currencyCode: 978 }],
      ['instalment count', { installmentCount: 2 }],
      ['card', { maskedCardNumber: '524677******3508' }],
    ])('with a different %s is refused', async (_what, change) => {
      await expect(reader.findEarlier({ ...REPEATED, ...change }, 'idempotencyKey', OWN)).rejects.toMatchObject({
        code: 'PAYMENT_DUPLICATE',
        payment: { conversationId: 'FIRST' },
        message: expect.stringContaining('idempotencyKey') as string,
      });
      const sameId = { ...REPEATED, ...change, conversationId: 'FIRST', idempotencyKey: null };
      await expect(reader.findEarlier(sameId, 'idempotencyKey', OWN)).rejects.toThrow(/conversationId/);
    });

    it('is recognised by id and key together', async () => {
      expect(await reader.findEarlier({ ...REPEATED, conversationId: 'FIRST' }, 'conversationId', OWN)).toEqual({
        payment: first,
        key: 'conversationId',
      });
    });

    it('is refused if the payment has been deleted and only its key or id is still known', async () => {
      store.findByIdempotencyKey = () => Promise.resolve('purged');
      await expect(reader.findEarlier(REPEATED, 'idempotencyKey', OWN)).rejects.toMatchObject({
        code: 'PAYMENT_DUPLICATE',
        message: expect.stringContaining('idempotencyKey') as string,
        payment: null,
      });
      const gone = { ...REPEATED, conversationId: 'GONE', idempotencyKey: null };
      await expect(reader.findEarlier(gone, 'conversationId', OWN)).rejects.toMatchObject({
        code: 'PAYMENT_DUPLICATE',
        message: expect.stringContaining('conversationId') as string,
        payment: null,
      });
      const known = { ...REPEATED, conversationId: 'FIRST', idempotencyKey: null };
      expect(await reader.findEarlier(known, 'conversationId', OWN)).toMatchObject({ payment: first });
    });

    it('is refused if its id belongs to one payment and its key to another', async () => {
      await store.insert({ ...first, conversationId: 'SECOND', idempotencyKey: 'key-2', referenceLock: null });
      await expect(
        reader.findEarlier({ ...REPEATED, conversationId: 'FIRST', idempotencyKey: 'key-2' }, 'idempotencyKey', OWN),
      ).rejects.toMatchObject({ key: 'conversationId', payment: { conversationId: 'FIRST' } });
    });

    it('is looked for by its id, its key and its order, in this turn', async () => {
      const holder = { ...first, conversationId: 'HOLDER', idempotencyKey: 'key-2', referenceLock: first.reference };
      await store.insert(holder);
      const ofOrder = { ...REPEATED, idempotencyKey: null };
      expect(await reader.findEarlier(ofOrder, 'referenceLock', OWN)).toEqual({ payment: holder, key: 'reference' });
      expect(await reader.findEarlier(REPEATED, 'referenceLock', OWN)).toMatchObject({ key: 'idempotencyKey' });
      expect(await reader.findEarlier({ ...ofOrder, allowRepeat: true }, 'referenceLock', OWN)).toBeNull();
      expect(await reader.findEarlier({ ...ofOrder, reference: 'order-2' }, 'referenceLock', OWN)).toBeNull();
    });

    it('is refused if its order is held and there is no payment to name', async () => {
      store.findByReferenceLock = () => Promise.resolve('purged');
      await expect(
        reader.findEarlier({ ...REPEATED, idempotencyKey: null }, 'referenceLock', OWN),
      ).rejects.toMatchObject({
        code: 'PAYMENT_DUPLICATE',
        key: 'reference',
        payment: null,
      });
    });
  });
});
