import { Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { OnPayment, PaymentEvent } from 'nestjs-card-payment';
import { TestClock } from 'nestjs-card-payment/testing';
import { type MerchantSetup, sale, useMerchants } from './merchant.js';

@Injectable()
class OrderHandlers {
  readonly awaited: PaymentEvent[] = [];
  readonly plain: PaymentEvent[] = [];
  /** How long the awaited handler takes. */
  work: () => Promise<void> = () => Promise.resolve();

  @OnPayment(['succeeded', 'failed', 'expired'])
  async settled(event: PaymentEvent): Promise<void> {
    await this.work();
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

describe('events', () => {
  const merchants = useMerchants();
  const start = (metadata: MerchantSetup['metadata'] = { providers: [OrderHandlers] }, more: MerchantSetup = {}) =>
    merchants.start('express', { metadata, ...more });

  it('call awaited handlers before the caller gets the answer, and plain listeners, once each', async () => {
    const { app, payments } = await start();
    const handlers = app.get(OrderHandlers);
    let begin!: () => void;
    let finish!: () => void;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const finished = new Promise<void>((resolve) => (finish = resolve));
    handlers.work = () => (begin(), finished);
    let hasReturned = false;
    const paying = payments.doPayment(sale()).finally(() => (hasReturned = true));
    await begun;
    // It could have returned by now.
    for (let turns = 0; turns < 50; turns += 1) await new Promise(setImmediate);
    expect(hasReturned).toBe(false);
    finish();
    const payment = await paying;

    const event = {
      eventId: `${payment.conversationId}:2`,
      type: 'payment.succeeded',
      payment,
      occurredAt: payment.updatedAt,
    };
    expect(handlers.awaited).toEqual([event]);
    expect(handlers.plain).toEqual([event]);
    await payments.reconcile();
    expect(handlers.awaited).toHaveLength(1);
  });

  it('come without a caller: a 3D payment whose buyer never returns expires, and its handler is called', async () => {
    const clock = new TestClock(new Date());
    const { app, payments } = await start(undefined, { clock });
    const { conversationId } = await payments.init3d(sale());
    await clock.advance(3_600_000);
    await clock.advance(60_000);
    const { awaited } = app.get(OrderHandlers);
    expect(awaited).toMatchObject([{ type: 'payment.expired', payment: { conversationId, state: 'expired' } }]);
  });

  it('reach handlers on providers that a factory made or that are values, once each', async () => {
    const value = new OrderHandlers();
    const providers = [
      { provide: 'handlers', useValue: value },
      { provide: 'the same again', useFactory: (handlers: OrderHandlers) => handlers, inject: ['handlers'] },
    ];
    const { payments } = await start({ providers });
    await payments.doPayment(sale());
    expect(value.awaited).toHaveLength(1);
  });
});
