import { Logger } from '@nestjs/common';
import { aRefundEvent } from '../../lib/testing/a-payment.js';
import type { InFlight } from '../../lib/settlement/in-flight.js';
import type { StoreClock } from '../../lib/settlement/store-clock.js';
import {
  PaymentGauges,
  PaymentHealth,
  type PaymentHealthReport,
  paymentHealthToken,
} from '../../lib/health/payment-health.js';
import type { PaymentSettings } from '../../lib/options/payment-settings.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { connectTelemetry } from '../../lib/telemetry/open-telemetry.js';
import type { AssembledFlows } from '../operations/assembled-flows.js';
import { LOST } from '../operations/fake-gateway.js';
import { sale, TestShop } from '../operations/test-shop.js';
import { TelemetryRecorder } from '../telemetry/recorder.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';

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

  it('reports refunds that have no outcome, and their deliveries with those of payments', async () => {
    await shop.store.insert(aPaymentRecord({ conversationId: 'PAID', state: 'succeeded' }));
    const refund = { kind: 'refund', parentId: 'PAID', referenceLock: null, tokenHash: null } as const;
    await shop.store.insert(aPaymentRecord({ ...refund, state: 'unknown', updatedAt: shop.clock.now() }));
    const events = aRefundEvent({ refundId: 'BACK' });
    await shop.store.insert(aPaymentRecord({ ...refund, conversationId: 'BACK' }), events);
    await shop.clock.advance(1_234);
    expect(await health.report()).toMatchObject({
      counts: {
        states: { unknown: { count: 0 } },
        refunds: { refunding: { count: 0 }, unknown: { count: 1 }, review: { count: 0 } },
        waitingEvents: 1,
      },
      oldestUnknownMs: null,
      oldestUnknownRefundMs: 1_234,
    });
  });

  it('is injected by its class, and for a named account by the token of that account', () => {
    expect(paymentHealthToken()).toBe(PaymentHealth);
    expect(paymentHealthToken('eu')).toBe(paymentHealthToken('eu'));
    expect(new Set([PaymentHealth, paymentHealthToken('eu'), paymentHealthToken('us')]).size).toBe(3);
  });
});

const NOW = new Date('2026-03-01T09:00:00Z');
const ago = (ms: number): Date => new Date(NOW.getTime() - ms);

describe('PaymentGauges', () => {
  let recorder: TelemetryRecorder;
  let gauges: PaymentGauges | null = null;

  beforeEach(async () => {
    recorder = new TelemetryRecorder().start();
    await connectTelemetry();
  });
  afterEach(() => {
    gauges?.stop();
    recorder.stop();
  });

  async function startGauges(more: Partial<PaymentHealthReport> = {}): Promise<PaymentGauges> {
    const counts = await new MemoryPaymentStore().counts('default');
    const none = { count: 0, oldest: null };
    const unknown = { count: 2, oldest: ago(90_000) };
    const report: PaymentHealthReport = {
      account: 'default',
      isStoreUp: true,
      counts: {
        ...counts,
        states: { ...counts.states, unknown, review: none },
        refunds: {
          ...counts.refunds,
          unknown: { count: 1, oldest: ago(30_000) },
          review: { count: 4, oldest: ago(5_000) },
        },
        waitingEvents: 3,
        openDeliveries: 4,
        parkedDeliveries: 5,
        orphanedDeliveries: 6,
      },
      unheardEvents: 0,
      otherGateway: 0,
      owedWrites: 7,
      paymentsInFlight: 8,
      maxInFlight: null,
      longRuns: [{ handlerId: 'mail', eventId: 'ONE:1', runningMs: 61_000 }],
      clockOffsetMs: -2_500,
      background: true,
      backgroundIdleMs: 0,
      backgroundFailures: 9,
      deliveryFailures: 10,
      oldestUnknownMs: 90_000,
      oldestUnknownRefundMs: 30_000,
      ...more,
    };
    const health = { report: () => Promise.resolve(report) } as PaymentHealth;
    const clock = { now: () => NOW } as StoreClock;
    const settings = { account: 'default', maxInFlight: report.maxInFlight } as PaymentSettings;
    gauges = new PaymentGauges(health, { count: 11 } as InFlight, clock, settings);
    gauges.start();
    return gauges;
  }

  it('have the values of the report, with times in seconds', async () => {
    await startGauges();
    const expected: Record<string, Record<string, number>> = {
      'store.up': { '': 1 },
      'writes.owed': { '': 7 },
      in_flight: { '': 11 },
      'in_flight.payments': { '': 8 },
      'handlers.long_running': { '': 1 },
      'background.failures': { '': 9 },
      'deliveries.failures': { '': 10 },
      'clock.offset': { '': -2.5 },
      'events.waiting': { '': 3 },
      deliveries: { open: 4, parked: 5, orphaned: 6 },
    };
    for (const [name, values] of Object.entries(expected)) {
      expect([name, await recorder.values(`card_payment.${name}`)]).toEqual([name, values]);
    }
    expect(await recorder.values('card_payment.payments')).toMatchObject({ unknown: 2, review: 0 });
    expect(await recorder.values('card_payment.payments')).not.toHaveProperty('refunding');
    expect(await recorder.values('card_payment.payments.oldest_age')).toMatchObject({ unknown: 90, review: 0 });
    expect(await recorder.values('card_payment.refunds')).toEqual({ refunding: 0, unknown: 1, review: 4 });
    expect(await recorder.values('card_payment.refunds.oldest_age')).toEqual({ refunding: 0, unknown: 30, review: 5 });
  });

  it('include the limit of payments in flight, and its refusals, only if maxInFlight is set', async () => {
    const names = ['card_payment.in_flight.limit', 'card_payment.overload.refused'];
    (await startGauges()).stop();
    for (const name of names) expect(await recorder.values(name)).toEqual({});
    await startGauges({ maxInFlight: 5 });
    expect(await Promise.all(names.map((name) => recorder.values(name)))).toEqual([
      { '': 5 },
      { doPayment: 0, init3d: 0, startHosted: 0 },
    ]);
  });

  it('leave out the values that only the store knows while it does not answer', async () => {
    await startGauges({ isStoreUp: false, counts: null });
    expect(await recorder.values('card_payment.store.up')).toEqual({ '': 0 });
    expect(await recorder.values('card_payment.writes.owed')).toEqual({ '': 7 });
    for (const name of ['payments', 'payments.oldest_age', 'refunds', 'refunds.oldest_age', 'deliveries']) {
      expect([name, await recorder.values(`card_payment.${name}`)]).toEqual([name, {}]);
    }
  });

  it('are left out after stop(), and are exported only once even if started twice', async () => {
    const started = await startGauges();
    started.start();
    started.stop();
    started.stop();
    expect(await recorder.points()).toEqual([]);
    started.start();
    expect(await recorder.values('card_payment.writes.owed')).toEqual({ '': 7 });
  });
});
