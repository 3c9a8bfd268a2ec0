import { MemoryPaymentStore, PaymentClock } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { ClockSetAhead } from '../rigs/clock-set-ahead.js';
import { bring, type Merchant, sale, startMerchant } from './merchant.js';
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
  let simulator: Simulator;
  let merchant: Merchant;
  const clock = new ClockSetAhead();

  beforeAll(async () => {
    simulator = await startSimulator({ dialect: 'morpos' });
    merchant = await startMerchant('express', simulator, {
      options: { store: new SlowStore(clock), background: false },
      override: (builder) => builder.overrideProvider(PaymentClock).useValue(clock),
    });
  });
  beforeEach(() => (clock.aheadMs = 0));
  afterAll(async () => {
    await merchant.app.close();
    await simulator.close();
  });

  it('sends no DoPayment, since another process may have settled the payment by now', async () => {
    const conversationId = 'LATE0000000000000001';
    await expect(merchant.payments.doPayment(sale('149.90', { conversationId }))).rejects.toMatchObject({
      code: 'PAYMENT_NOT_SENT',
      payment: { state: 'failed', reason: 'not_sent' },
    });
    expect(simulator.ledger.chargedTimes(conversationId)).toBe(0);
  });

  it('sends no Auth3d', async () => {
    const { conversationId } = await merchant.payments.init3d(sale());
    const answer = await bring(simulator.approve(conversationId));
    expect(answer.headers.get('location')).toContain('https://shop.example/failed');
    await expect(merchant.payments.find(conversationId)).resolves.toMatchObject({
      state: 'failed',
      reason: 'not_sent',
    });
    expect(simulator.ledger.chargedTimes(conversationId)).toBe(0);
  });
});
