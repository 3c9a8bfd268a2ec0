import { PaymentDuplicateError } from 'nestjs-card-payment';
import { PaymentReader, RefundReader } from '../../lib/settlement/records.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import type { RefusedKey } from '../../lib/store/payment-store.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

const OWN = { gateways: ['gateway.example 0123456789abcdef'] } as const;

describe('PaymentReader', () => {
  let store: MemoryPaymentStore;
  let reader: PaymentReader;

  beforeEach(() => {
    store = new MemoryPaymentStore();
    reader = new PaymentReader(store, { account: 'default' });
  });

  it('finds only the payments of its own account, and their history', async () => {
    const record = aPaymentRecord({ state: 'succeeded', tokenHash: 'hash' });
    const { conversationId } = record;
    const found = async () => [
      await reader.find(conversationId),
      await reader.findByTokenHash('hash'),
      await reader.findByReference(record.reference!),
      (await reader.history(conversationId)).map(({ state }) => state),
    ];
    await store.insert({ ...record, account: 'other' });
    expect(await found()).toEqual([null, null, [], []]);
    expect(await reader.findEarlier(record, 'idempotencyKey', OWN)).toBeNull();
    await store.insert(record);
    expect(await found()).toEqual([record, record, [record], ['succeeded']]);
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

  describe('on a store that fails', () => {
    beforeEach(() => {
      const broken = new Proxy(store, { get: () => () => Promise.reject(new Error('postgres://user:secret@host')) });
      reader = new PaymentReader(broken, { account: 'default' });
    });

    it.each<[string, () => Promise<unknown>]>([
      ['find', () => reader.find('x')],
      ['findByTokenHash', () => reader.findByTokenHash('x')],
      ['findByReference', () => reader.findByReference('x')],
      ['history', () => reader.history('x')],
      ['findEarlier', () => reader.findEarlier(aPaymentRecord({ state: 'charging' }), 'idempotencyKey', OWN)],
    ])('%s throws PAYMENT_STORE without details', async (_name, read) => {
      await expect(read()).rejects.toMatchObject({
        code: 'PAYMENT_STORE',
        message: 'The payment store failed while reading. No money was moved by this call.',
      });
    });

    it.each(['a\0b', 'a\nb', '\ud800', ['x'], { $ne: '' }, undefined])(
      'looks nothing up for an id that no payment can have: %j',
      async (given) => {
        const id = given as string;
        expect([await reader.find(id), await reader.findByReference(id)]).toEqual([null, []]);
      },
    );
  });

  describe('a repeated sale', () => {
    const free = { state: 'charging', referenceLock: null } as const;
    const REPEATED = aPaymentRecord({ ...free, conversationId: 'REPEATED', idempotencyKey: 'key-1' });

    beforeEach(async () => {
      await store.insert(aPaymentRecord({ ...free, conversationId: 'FIRST', idempotencyKey: 'key-1' }));
      await store.insert(aPaymentRecord({ ...free, conversationId: 'SECOND', idempotencyKey: 'key-2' }));
      await store.insert(aPaymentRecord({ state: 'charging', conversationId: 'HOLDER', idempotencyKey: 'key-3' }));
    });

    /** What stands in its way, and what it has of it. */
    async function earlier(change: Partial<PaymentRecord>, taken: RefusedKey): Promise<string | null> {
      try {
        const found = await reader.findEarlier({ ...REPEATED, ...change }, taken, OWN);
        return found && `${found.payment.conversationId} by its ${found.key}`;
      } catch (error) {
        const { payment, key, message } = error as PaymentDuplicateError;
        expect(error).toBeInstanceOf(PaymentDuplicateError);
        expect(message).toContain(key);
        return `refused: ${key} of ${payment?.conversationId ?? 'one that is gone'}`;
      }
    }

    const BY_ID = { conversationId: 'FIRST', idempotencyKey: null };
    const NO_KEY = { idempotencyKey: null };
    const GONE = { conversationId: 'GONE', idempotencyKey: null };
    it.each<[Partial<PaymentRecord>, RefusedKey, string | null]>([
      // Its id comes first, then its key, then its order.
      [{}, 'idempotencyKey', 'FIRST by its idempotencyKey'],
      [{}, 'referenceLock', 'FIRST by its idempotencyKey'],
      [BY_ID, 'conversationId', 'FIRST by its conversationId'],
      [{ conversationId: 'FIRST' }, 'conversationId', 'FIRST by its conversationId'],
      [{ conversationId: 'FIRST', idempotencyKey: 'key-2' }, 'idempotencyKey', 'refused: conversationId of FIRST'],
      [NO_KEY, 'referenceLock', 'HOLDER by its reference'],
      [{ idempotencyKey: 'key-4' }, 'referenceLock', 'HOLDER by its reference'],
      [{ ...NO_KEY, allowRepeat: true }, 'referenceLock', null],
      [{ ...NO_KEY, reference: 'order-2' }, 'idempotencyKey', null],
      [GONE, 'conversationId', 'refused: conversationId of one that is gone'],
    ])('with %j, refused by %s, finds %s', async (change, taken, found) => {
      expect(await earlier(change, taken)).toBe(found);
    });

    it.each<Partial<PaymentRecord>>([
      { kind: '3d' },
      { reference: 'order-2' },
      { amount: '149.91' },
      { currencyCode: 978 },
      { installmentCount: 2 },
      { maskedCardNumber: '524677******3508' },
    ])('is another one with %j, and refused', async (change) => {
      expect(await earlier(change, 'idempotencyKey')).toBe('refused: idempotencyKey of FIRST');
      expect(await earlier({ ...change, ...BY_ID }, 'idempotencyKey')).toBe('refused: conversationId of FIRST');
    });

    it('is refused if only its key, or that its order is held, is still known', async () => {
      store.findByIdempotencyKey = () => Promise.resolve('purged');
      store.findByReferenceLock = () => Promise.resolve('purged');
      expect(await earlier({}, 'idempotencyKey')).toBe('refused: idempotencyKey of one that is gone');
      expect(await earlier(NO_KEY, 'referenceLock')).toBe('refused: reference of one that is gone');
      expect(await earlier(BY_ID, 'idempotencyKey')).toBe('FIRST by its conversationId');
    });
  });
});
