import { MemoryPaymentStore } from 'nestjs-card-payment';
import { ClockSetAhead } from '../rigs/clock-set-ahead.js';
import { bring, sale, useMerchant } from './merchant.js';
import type { PaymentRecord } from '../../lib/payment/payment.js';

/** A claim takes this store longer than the claim lasts. */
class SlowStore extends MemoryPaymentStore {
  constructor(private readonly time: ClockSetAhead) {
    super({ clock: time });
  }

  override insert(...write: Parameters<MemoryPaymentStore['insert']>): ReturnType<MemoryPaymentStore['insert']> {
    this.holdUp(write[0]);
    return super.insert(...write);
  }

  override replace(...write: Parameters<MemoryPaymentStore['replace']>): ReturnType<MemoryPaymentStore['replace']> {
    this.holdUp(write[0]);
    return super.replace(...write);
  }

  private holdUp({ state }: PaymentRecord): void {
    if (state === 'charging' || state === 'authorizing') this.time.aheadMs += 600_000;
  }
}

describe('a claim that took longer than it lasts', () => {
  const clock = new ClockSetAhead();
  const shop = useMerchant({ clock, options: { store: new SlowStore(clock), background: false } });
  beforeEach(() => (clock.aheadMs = 0));

  it('sends no DoPayment, since another process may have settled the payment by now', async () => {
    const conversationId = 'LATE0000000000000001';
    await expect(shop.payments.doPayment(sale('149.90', { conversationId }))).rejects.toMatchObject({
      code: 'PAYMENT_NOT_SENT',
      payment: { state: 'failed', reason: 'not_sent' },
    });
    expect(shop.simulator.ledger.chargedTimes(conversationId)).toBe(0);
  });

  it('sends no Auth3d', async () => {
    const { conversationId } = await shop.payments.init3d(sale());
    const answer = await bring(shop.simulator.approve(conversationId));
    expect(answer.headers.get('location')).toContain('https://shop.example/failed');
    await expect(shop.payments.find(conversationId)).resolves.toMatchObject({
      state: 'failed',
      reason: 'not_sent',
    });
    expect(shop.simulator.ledger.chargedTimes(conversationId)).toBe(0);
  });
});
