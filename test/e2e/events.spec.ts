import { Injectable, Scope } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { OnPayment, PaymentEvent, type PaymentOptions } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { until } from '../services/until.js';
import { type Merchant, type MerchantSetup, sale, startMerchant } from './merchant.js';

@Injectable()
class OrderHandlers {
  readonly awaited: PaymentEvent[] = [];
  readonly plain: PaymentEvent[] = [];
  failures = 0;
  tries = 0;
  /** How long the awaited handler takes. */
  work: () => Promise<void> = () => Promise.resolve();

  @OnPayment(['succeeded', 'failed', 'expired'])
  async settled(event: PaymentEvent): Promise<void> {
    await this.work();
    this.awaited.push(event);
  }

  @OnPayment('succeeded', { id: 'flaky' })
  async flaky(): Promise<void> {
    this.tries += 1;
    if (this.tries <= this.failures) throw new Error('the mail server is down');
    await Promise.resolve();
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

@Injectable({ scope: Scope.REQUEST })
class RequestScoped {
  @OnPayment('succeeded')
  never(): void {}
}

@Injectable()
class Twins {
  @OnPayment('succeeded', { id: 'same' })
  one(): void {}
  @OnPayment('succeeded', { id: 'same' })
  two(): void {}
}

@Injectable()
class Foreign {
  @OnPayment('succeeded', { name: 'nowhere' })
  never(): void {}
}

describe('events', () => {
  let simulator: Simulator;
  let merchant: Merchant | undefined;

  beforeAll(async () => {
    simulator = await startSimulator({ dialect: 'morpos' });
  });
  afterEach(async () => {
    await merchant?.app.close();
    merchant = undefined;
  });
  afterAll(() => simulator.close());

  async function start(
    metadata: MerchantSetup['metadata'] = { providers: [OrderHandlers] },
    options: PaymentOptions = {},
  ): Promise<Merchant> {
    merchant = await startMerchant('express', simulator, { metadata, options });
    return merchant;
  }

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

  it('call a handler that failed again, and no other', async () => {
    const { app, payments } = await start();
    const handlers = app.get(OrderHandlers);
    handlers.failures = 1;
    await payments.doPayment(sale());
    await until(async () => (await payments.reconcile(), handlers.tries >= 2));
    expect(handlers.awaited).toHaveLength(1);
  });

  it('come without a caller: a 3D payment whose buyer never returns expires, and its handler is called', async () => {
    const { app, payments } = await start(undefined, { sessionTtlMs: 100 });
    const { conversationId } = await payments.init3d(sale());
    const { awaited } = app.get(OrderHandlers);
    await until(() => awaited.length > 0);
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

  it.each([
    ['a request-scoped provider', RequestScoped, /request-scoped/],
    ['an id used twice', Twins, /stands twice/],
    ['an account that is not there', Foreign, /"nowhere" is not registered/],
  ])('refuses to start with a handler on %s', async (_what, provider, message) => {
    await expect(start({ providers: [provider] })).rejects.toThrow(message);
  });
});
