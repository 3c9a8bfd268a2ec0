import { inspect } from 'node:util';
import { MemoryPaymentStore } from '../../../lib/store/memory/memory-payment-store.js';
import { aPaymentRecord } from '../../rigs/a-payment-record.js';
import { describePaymentStore } from '../contract/payment-store-contract.js';

describePaymentStore('MemoryPaymentStore', { create: (clock) => Promise.resolve(new MemoryPaymentStore({ clock })) });

describe('MemoryPaymentStore', () => {
  it('shows no record when it is inspected', async () => {
    const store = new MemoryPaymentStore();
    await store.insert(aPaymentRecord({ conversationId: 'HELD', redirectUrl: 'https://gateway.example/the-page' }));
    expect(inspect(store, { depth: 20, showHidden: true })).not.toMatch(/HELD|the-page/);
  });
});
