import type { PaymentRefundError } from 'nestjs-card-payment';
import { aPaymentRecord } from '../rigs/a-payment-record.js';
import { LOST, NOT_FOUND, paid, reply } from './fake-gateway.js';
import { TestShop } from './test-shop.js';

// What else becomes of refunds is in test/scripts/expected/refunds.txt and faults.txt.
describe('the answer to a refund of 10.00 that shows', () => {
  it.each([
    ['its own amount', '10.00', 'succeeded'],
    ['the amount of its payment', '149.90', 'succeeded'],
    ['what was charged of its payment', '160.00', 'succeeded'],
    ['another amount', '11.00', 'review'],
  ])('%s, %s: %s', async (_what, amount, state) => {
    const test = new TestShop();
    const { payments } = await test.start();
    const ids = { orderId: 'O-1', paymentId: 'P-1' };
    const paid = aPaymentRecord({ state: 'succeeded', amount: '149.90', chargedAmount: '160.00', ...ids });
    await test.store.insert(paid);
    test.gateway.willAnswer('DoPayment', reply({ code: 'B0000', amount }));
    const { conversationId } = paid;
    expect(await payments.refund({ conversationId, amount: '10.00' })).toMatchObject({ state });
  });
});

describe('a refund of a payment of which an id of the gateway is not known', () => {
  const IDS = { orderId: 'O-1', paymentId: 'P-1' };
  const { conversationId } = aPaymentRecord();

  it.each([
    ['silence', { orderId: null }, LOST, 'no_ids'],
    ['that it knows no such payment', { paymentId: null }, NOT_FOUND, 'no_ids'],
    ['both, but not of which payment', { paymentId: null }, paid(IDS), 'no_ids'],
    ['both, and another amount', { paymentId: null }, paid({ conversationId, amount: 1, ...IDS }), 'succeeded'],
  ])('asks for it; the answer is %s', async (_what, missing, answer, ends) => {
    const shop = new TestShop();
    const { payments } = await shop.start();
    await shop.store.insert(aPaymentRecord({ state: 'succeeded', ...IDS, ...missing }));
    shop.gateway.willAnswer('CheckPayment', answer);
    const end = payments.refund({ conversationId }).then(
      ({ state }) => state,
      ({ reason }: PaymentRefundError) => reason,
    );
    expect(await end).toBe(ends);
    expect(shop.gateway.requests).toHaveLength(ends === 'succeeded' ? 2 : 1);
  });
});
