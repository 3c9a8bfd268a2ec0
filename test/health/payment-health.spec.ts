import { Logger } from '@nestjs/common';
import { PaymentHealth, paymentHealthToken } from '../../lib/health/payment-health.js';
import { type AssembledFlows } from '../flows/assembled-flows.js';
import { LOST } from '../flows/fake-gateway.js';
import { sale, TestShop } from '../flows/test-shop.js';

describe('PaymentHealth', () => {
  let shop: TestShop;
  let flows: AssembledFlows;
  let health: PaymentHealth;

  beforeEach(async () => {
    Logger.overrideLogger(false);
    shop = new TestShop();
    flows = await shop.start();
    const { owed, events, time, settings, reconciler, limit } = flows;
    health = new PaymentHealth(shop.store, owed, events, time, settings, reconciler, limit);
  });

  it('reports no problem for a healthy shop', async () => {
    await flows.payments.doPayment(sale());
    await flows.payments.reconcile();
    expect(await health.report()).toMatchObject({
      account: 'default',
      isStoreUp: true,
      counts: { states: { unknown: { count: 0, oldest: null } }, openDeliveries: 0, parkedDeliveries: 0 },
      owedWrites: 0,
      longRuns: [],
      clockOffsetMs: 0,
      background: true,
    });
  });

  it('reports the writes that this process owes to a store that is down', async () => {
    shop.store.replace = () => Promise.reject(new Error('down'));
    shop.store.counts = () => Promise.reject(new Error('password=secret'));
    await flows.payments.doPayment(sale());
    expect(await health.report()).toMatchObject({ isStoreUp: false, counts: null, owedWrites: 1 });
  });

  it('reports how often in a row background work and deliveries failed, until the store works again', async () => {
    const { leaseDue, fanOut } = shop.store;
    shop.store.leaseDue = () => Promise.reject(new Error('down'));
    shop.store.fanOut = () => Promise.reject(new Error('down'));
    flows.reconciler.start();
    await shop.clock.advance(20_000);
    const failing = await health.report();
    expect(failing.isStoreUp).toBe(true);
    expect(failing.backgroundFailures).toBeGreaterThanOrEqual(8);
    expect(failing.deliveryFailures).toBeGreaterThanOrEqual(8);
    [shop.store.leaseDue, shop.store.fanOut] = [leaseDue, fanOut];
    await shop.clock.advance(5_000);
    expect(await health.report()).toMatchObject({ backgroundFailures: 0, deliveryFailures: 0 });
    await flows.reconciler.stop();
  });

  it('reports a handler that has been running for a minute', async () => {
    const types = ['payment.succeeded'] as const;
    const stuck = { id: 'stuck', account: 'default', types, concurrency: 1, timeoutMs: null };
    await flows.events.announce([{ ...stuck, handle: () => new Promise(() => undefined) }]);
    flows.events.start();
    expect((await health.report()).longRuns).toEqual([]);
    const paying = flows.payments.doPayment(sale());
    await shop.clock.advance(59_000);
    expect((await health.report()).longRuns).toEqual([]);
    await shop.clock.advance(31_000);
    const { conversationId } = await paying;
    const run = { handlerId: 'stuck', eventId: `${conversationId}:2`, runningMs: 90_000 };
    expect((await health.report()).longRuns).toEqual([run]);
  });

  it('reports how long the oldest payment has been unknown', async () => {
    shop.gateway.willAnswer('DoPayment', LOST);
    await flows.payments.doPayment(sale());
    expect((await health.report()).oldestUnknownMs).toBe(0);
    await shop.clock.advance(1_234);
    expect((await health.report()).oldestUnknownMs).toBe(1_234);
  });

  it('is injected by its class, and for a named account by the token of that account', () => {
    expect(paymentHealthToken()).toBe(PaymentHealth);
    expect(paymentHealthToken('eu')).toBe(paymentHealthToken('eu'));
    expect(new Set([PaymentHealth, paymentHealthToken('eu'), paymentHealthToken('us')]).size).toBe(3);
  });
});
