import { Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { OnPayment, type PaymentEvent } from 'nestjs-card-payment';
import { sale, useMerchant } from './merchant.js';

@Injectable()
class OrderHandlers {
  readonly awaited: PaymentEvent[] = [];
  readonly plain: PaymentEvent[] = [];
  private begin!: () => void;
  readonly begun = new Promise<void>((resolve) => (this.begin = resolve));
  finish!: () => void;
  private readonly finished = new Promise<void>((resolve) => (this.finish = resolve));

  @OnPayment(['succeeded', 'failed', 'expired'])
  async settled(event: PaymentEvent): Promise<void> {
    this.begin();
    await this.finished;
    this.awaited.push(event);
  }

  @OnEvent('payment.succeeded')
  heard(event: PaymentEvent): void {
    this.plain.push(event);
  }

  @OnEvent('payment.succeeded', { suppressErrors: false })
  breaks(): never {
    throw new Error('a listener that throws');
  }
}

// Which events come of what, without a caller as well, is in test/scripts/expected.
describe('events', () => {
  const handlers = new OrderHandlers();
  const providers = [{ provide: 'handlers', useValue: handlers }];
  const shop = useMerchant({ metadata: { providers } });

  it('call awaited handlers before the caller gets the answer, and plain listeners, once each', async () => {
    const { payments } = shop;
    let hasReturned = false;
    const paying = payments.doPayment(sale()).finally(() => (hasReturned = true));
    await handlers.begun;
    // It could have returned by now.
    for (let turns = 0; turns < 50; turns += 1) await new Promise(setImmediate);
    expect(hasReturned).toBe(false);
    handlers.finish();
    const payment = await paying;
    const { conversationId, updatedAt } = payment;
    const event = { eventId: `${conversationId}:2`, type: 'payment.succeeded', payment, occurredAt: updatedAt };
    expect([handlers.awaited, handlers.plain]).toEqual([[event], [event]]);
    await payments.reconcile();
    expect(handlers.awaited).toHaveLength(1);
  });
});
