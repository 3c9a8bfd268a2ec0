import { MemoryPaymentStore, type PaymentHistoryEntry, PaymentStateError } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { advance } from '../../lib/payment/transitions.js';
import { ODD } from '../rigs/odd-answers.js';
import { type Merchant, sale, startMerchant } from '../e2e/merchant.js';

/** Runs some work after the history of a payment was read. */
class HookedStore extends MemoryPaymentStore {
  afterHistory: () => Promise<unknown> = () => Promise.resolve();

  override async history(account: string, conversationId: string): Promise<PaymentHistoryEntry[]> {
    const history = await super.history(account, conversationId);
    await this.afterHistory();
    return history;
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
    store.afterHistory = async () => {
      looks += 1;
      // The second look is under the lock. The operator's write lands after it.
      if (looks !== 2) return;
      const record = (await store.find('default', conversationId))!;
      await store.replace(advance(record, 'failed', { reason: 'operator' }, new Date()), record);
    };
    await expect(payments.refund({ conversationId })).rejects.toBeInstanceOf(PaymentStateError);
    expect(looks).toBe(2);
    expect(simulator.ledger.calls('refund')).toBe(0);
    store.afterHistory = () => Promise.resolve();
    expect(await payments.refunds(conversationId)).toMatchObject([{ state: 'failed', reason: 'not_sent' }]);
  });
});
