import { MemoryPaymentStore, PaymentStateError } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { advance } from '../../lib/payment/transitions.js';
import { ODD } from '../rigs/odd-answers.js';
import { type Merchant, sale, startMerchant } from '../e2e/merchant.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';
import { reply } from './fake-gateway.js';
import { TestShop } from './test-shop.js';

/** Runs some work after a record was read. */
class HookedStore extends MemoryPaymentStore {
  afterFind: (found: PaymentRecord | null) => Promise<unknown> = () => Promise.resolve();

  override async find(account: string, conversationId: string): Promise<PaymentRecord | null> {
    const found = await super.find(account, conversationId);
    await this.afterFind(found);
    return found;
  }
}

describe('a refund of a payment in review', () => {
  const store = new HookedStore();
  let simulator: Simulator;
  let shop: Merchant;

  beforeAll(async () => {
    simulator = await startSimulator({ dialect: 'morpos' });
    shop = await startMerchant('fastify', simulator, { options: { store, background: false } });
  });
  afterAll(async () => {
    await shop.app.close();
    await simulator.close();
  });

  it('is not sent if an operator, who had seen no refund, says meanwhile that the payment failed', async () => {
    const { payments } = shop;
    simulator.fail({ operation: 'DoPayment', ...ODD['declined-code'] });
    const { conversationId } = await payments.doPayment(sale());
    expect(await payments.inquire(conversationId)).toMatchObject({ state: 'review', reason: 'moved_after_all' });
    let looks = 0;
    store.afterFind = async (found) => {
      if (found?.conversationId !== conversationId) return;
      looks += 1;
      // The second look is under the lock. The operator's write lands after it.
      if (looks === 2) await store.replace(advance(found, 'failed', { reason: 'operator' }, new Date()), found);
    };
    await expect(payments.refund({ conversationId })).rejects.toBeInstanceOf(PaymentStateError);
    expect(looks).toBeGreaterThan(2);
    expect(simulator.ledger.calls('refund')).toBe(0);
    store.afterFind = () => Promise.resolve();
    expect(await payments.refunds(conversationId)).toMatchObject([{ state: 'failed', reason: 'not_sent' }]);
  });
});

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
