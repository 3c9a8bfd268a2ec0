import { MemoryPaymentStore, PaymentStateError } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import type { PaymentRecord } from '../../lib/payment/payment.js';
import { advance } from '../../lib/payment/transitions.js';
import { ODD } from '../rigs/odd-answers.js';
import { type Merchant, sale, startMerchant } from '../e2e/merchant.js';

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
