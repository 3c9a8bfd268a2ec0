import { MemoryPaymentStore } from '../../../lib/store/memory/memory-payment-store.js';
import { aPaymentRecord } from '../../rigs/a-payment-record.js';
import { describePaymentStore } from '../contract/payment-store-contract.js';

describePaymentStore('MemoryPaymentStore', { create: (clock) => Promise.resolve(new MemoryPaymentStore({ clock })) });

test('a payment that takes the key of another one is told which key that is', async () => {
  const store = new MemoryPaymentStore();
  const one = aPaymentRecord({ conversationId: 'one', idempotencyKey: 'key', reference: null });
  const other = aPaymentRecord({ conversationId: 'other', idempotencyKey: 'other', reference: null, version: 1 });
  expect([await store.insert(one), await store.insert(other)]).toEqual([null, null]);
  const taking = store.replace({ ...other, idempotencyKey: 'key', version: 2 }, other);
  await expect(taking).rejects.toThrow('Another payment has this idempotencyKey.');
});
