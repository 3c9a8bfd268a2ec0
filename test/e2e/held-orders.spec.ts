import { Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { OnPayment, type PaymentEvent, type PaymentService } from 'nestjs-card-payment';
import { ClockSetAhead } from '../rigs/clock-set-ahead.js';
import { ENGINES_IN_TURN } from './engines.js';
import { bring, sale, useMerchant } from './merchant.js';

const HOUR_MS = 3_600_000;

/** What the natural shop does: it gives an order back when a payment of it ends without money. */
@Injectable()
class Orders {
  readonly givenBack: string[] = [];
  readonly heard: string[] = [];

  @OnPayment(['failed', 'expired'])
  giveBack({ payment }: PaymentEvent<'failed' | 'expired'>): void {
    this.givenBack.push(`${payment.reference} ${payment.state}`);
  }

  @OnEvent('payment.failed')
  @OnEvent('payment.expired')
  hear({ payment }: PaymentEvent): void {
    this.heard.push(`${payment.reference} ${payment.state}`);
  }
}

describe.each(ENGINES_IN_TURN)('an order that is held, on %s', (_name, engine) => {
  const clock = new ClockSetAhead();
  const shop = useMerchant({
    engine,
    clock,
    gateway: { clock: () => clock.now(), timestampToleranceMs: Infinity },
    metadata: { providers: [Orders] },
    options: { background: false, retentionMs: 0 },
  });
  let payments: PaymentService;
  let orders: Orders;
  let placed = 0;

  beforeEach(() => {
    ({ payments } = shop);
    orders = shop.app.get(Orders);
    orders.givenBack.length = 0;
    orders.heard.length = 0;
  });

  const PAID = '149.90';
  const DECLINED = '149.51';
  /** An order of its own, and what is typed to pay it. */
  function newOrder(): (amount?: string, more?: object) => ReturnType<typeof sale> {
    const reference = `order-${(placed += 1)}`;
    return (amount = PAID, more = {}) => sale(amount, { reference, ...more });
  }

  async function later(hours: number): Promise<void> {
    clock.aheadMs += hours * HOUR_MS;
    await payments.reconcile();
  }

  /** What the handlers were told by now; plain events come a moment later. */
  async function told(): Promise<string[][]> {
    await payments.reconcile();
    await new Promise((resolve) => setTimeout(resolve, 50));
    return [orders.givenBack, orders.heard];
  }

  it('is not given back by a tab that expires, or comes back, after it was paid', async () => {
    const order = newOrder();
    const tabs = [await payments.init3d(order()), await payments.init3d(order())];
    const paid = await payments.doPayment(order());
    const answer = await bring(shop.simulator.approve(tabs[0]!.conversationId));
    expect(answer.headers.get('location')).toBe(`https://shop.example/paid?conversationId=${paid.conversationId}`);
    await later(2);
    expect(await Promise.all(tabs.map(async ({ conversationId }) => payments.find(conversationId)))).toMatchObject([
      { state: 'failed', reason: 'reference_taken' },
      { state: 'expired' },
    ]);
    expect(await told()).toEqual([[], []]);
  });

  it('is not held by a payment with allowRepeat, whose end is always told', async () => {
    const order = newOrder();
    await payments.doPayment(order());
    const again = await payments.doPayment(order(DECLINED, { allowRepeat: true }));
    expect(again).toMatchObject({ state: 'failed', allowRepeat: true });
    const failed = [`${order().reference} failed`];
    expect(await told()).toEqual([failed, failed]);
  });

  it('stays held by one that was purged', async () => {
    const order = newOrder();
    const tab = await payments.init3d(order());
    const { conversationId } = await payments.doPayment(order());
    await later(0);
    // For so long its event waits for a handler.
    const monthMs = 721 * HOUR_MS;
    clock.aheadMs += monthMs;
    await shop.store.purge('default', { paymentsMs: 1, pairsMs: 2 * monthMs, keysMs: HOUR_MS });
    expect(await payments.find(conversationId)).toBeNull();
    clock.aheadMs -= monthMs;
    const answer = await bring(shop.simulator.approve(tab.conversationId));
    expect(answer.headers.get('location')).toBe(`https://shop.example/pending?conversationId=${tab.conversationId}`);
    expect(await told()).toEqual([[], []]);
    const taken = { code: 'PAYMENT_DUPLICATE', key: 'reference', payment: null };
    await expect(payments.doPayment(order())).rejects.toMatchObject(taken);
    await expect(payments.init3d(order())).rejects.toMatchObject(taken);
  });
});
