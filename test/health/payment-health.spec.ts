import { Logger } from '@nestjs/common';
import { aRefundEvent } from '../../lib/testing/a-payment.js';
import {
  observeHealth,
  PaymentHealth,
  type PaymentHealthReport,
  paymentHealthToken,
} from '../../lib/health/payment-health.js';
import { PaymentOperations } from '../../lib/operations/staff.js';
import { connectTelemetry } from '../../lib/telemetry/open-telemetry.js';
import type { AssembledFlows } from '../operations/assembled-flows.js';
import { LOST } from '../operations/fake-gateway.js';
import { sale, TestShop } from '../operations/test-shop.js';
import { TelemetryRecorder } from '../telemetry/recorder.js';
import { aPaymentRecord } from '../rigs/a-payment-record.js';
import { NONE, reportWith } from './report-with.js';

const UNUSED = undefined as never;

describe('PaymentHealth', () => {
  let shop: TestShop;
  let flows: AssembledFlows;
  let health: PaymentHealth;

  beforeEach(async () => {
    Logger.overrideLogger(false);
    shop = new TestShop();
    flows = await shop.start();
    const { reader, owed, events, time, settings, reconciler, inFlight } = flows;
    const operations = new PaymentOperations(shop.store, reader, UNUSED, UNUSED, UNUSED, UNUSED, inFlight, settings);
    health = new PaymentHealth(operations, owed, events, time, settings, reconciler, inFlight);
  });

  it('reports no problem for a healthy shop', async () => {
    await flows.payments.doPayment(sale());
    await flows.payments.reconcile();
    expect(await health.report()).toMatchObject({
      account: 'default',
      at: shop.clock.now(),
      store: 'up',
      counts: {
        states: { succeeded: { count: 1 }, unknown: NONE },
        deliveries: { open: 0, parked: 0, orphaned: 0 },
        otherGateway: 0,
      },
      owedWrites: 0,
      operationsInFlight: 0,
      paymentsInFlight: 0,
      longRuns: [],
      clockOffsetMs: 0,
    });
  });

  it('reports the writes that this process owes to a store that is down', async () => {
    shop.store.replace = () => Promise.reject(new Error('down'));
    shop.store.counts = () => Promise.reject(new Error('password=secret'));
    await flows.payments.doPayment(sale());
    const ofStore = { counts: null, oldestUnknownMs: null, oldestUnknownRefundMs: null };
    expect(await health.report()).toMatchObject({ store: 'down', ...ofStore, owedWrites: 1 });
  });

  it('reports how many operations and payments are running', async () => {
    let release: (() => void) | undefined;
    const { insert } = shop.store;
    shop.store.insert = async (...given) => {
      await new Promise<void>((go) => (release = go));
      return insert.apply(shop.store, given);
    };
    const paying = flows.payments.doPayment(sale());
    const reported = await health.report();
    await shop.clock.advance(1);
    release?.();
    await paying;
    expect(reported).toMatchObject({ operationsInFlight: 1, paymentsInFlight: 1 });
    expect(await health.report()).toMatchObject({ operationsInFlight: 0, paymentsInFlight: 0 });
  });

  it('reports how often in a row background work and deliveries failed, until the store works again', async () => {
    const { leaseDue, fanOut } = shop.store;
    shop.store.leaseDue = () => Promise.reject(new Error('down'));
    shop.store.fanOut = () => Promise.reject(new Error('down'));
    flows.reconciler.start();
    await shop.clock.advance(20_000);
    const failing = await health.report();
    expect(failing).toMatchObject({ store: 'up', background: 'running' });
    expect(failing.backgroundFailures).toBeGreaterThanOrEqual(8);
    expect(failing.deliveryFailures).toBeGreaterThanOrEqual(8);
    [shop.store.leaseDue, shop.store.fanOut] = [leaseDue, fanOut];
    await shop.clock.advance(5_000);
    expect(await health.report()).toMatchObject({ backgroundFailures: 0, deliveryFailures: 0 });
    await flows.reconciler.stop();
  });

  it.each([
    [0, 'running'],
    [899_999, 'running'],
    [900_000, 'stalled'],
    [null, 'stalled'],
  ])('reports a background whose last pass began %s ms ago as %s, if it has any', async (idleMs, expected) => {
    Object.defineProperty(flows.reconciler, 'idleMs', { value: idleMs });
    expect(await health.report()).toMatchObject({ background: expected, backgroundIdleMs: idleMs });
    Object.defineProperty(flows.settings, 'background', { value: false });
    expect(await health.report()).toMatchObject({ background: 'off' });
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
        deliveries: { waiting: 1, open: 0 },
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

describe('the gauges', () => {
  let recorder: TelemetryRecorder;
  let end = (): void => undefined;

  beforeEach(async () => {
    recorder = new TelemetryRecorder().start();
    await connectTelemetry();
  });
  afterEach(() => {
    end();
    recorder.stop();
  });

  function startWith(more: Partial<PaymentHealthReport> = {}): void {
    const report = reportWith(more);
    end = observeHealth({ report: () => Promise.resolve(report) }, report);
  }

  const OF_STORE: readonly (readonly [string, Record<string, number>])[] = [
    ['payments', { initiating: 0, awaiting: 0, charging: 0, authorizing: 0, pending: 0, unknown: 2, review: 0 }],
    [
      'payments.oldest_age',
      { initiating: 0, awaiting: 0, charging: 0, authorizing: 0, pending: 0, unknown: 90, review: 0 },
    ],
    ['refunds', { refunding: 0, unknown: 1, review: 4 }],
    ['refunds.oldest_age', { refunding: 0, unknown: 30, review: 5 }],
    ['deliveries', { open: 4, parked: 5, orphaned: 6 }],
    ['events.waiting', { '': 3 }],
  ];
  const OF_PROCESS: readonly (readonly [string, Record<string, number>])[] = [
    ['writes.owed', { '': 7 }],
    ['in_flight', { '': 11 }],
    ['in_flight.payments', { '': 8 }],
    ['handlers.long_running', { '': 1 }],
    ['background.failures', { '': 9 }],
    ['deliveries.failures', { '': 10 }],
    ['clock.offset', { '': -2.5 }],
  ];
  const REFUSALS = { doPayment: 0, init3d: 0, startHosted: 0 };

  it.each<[string, Partial<PaymentHealthReport>, readonly (readonly [string, Record<string, number>])[]]>([
    [
      'have the values of the report, with times in seconds',
      { maxInFlight: null },
      [...OF_STORE, ...OF_PROCESS, ['store.up', { '': 1 }], ['in_flight.limit', {}], ['overload.refused', {}]],
    ],
    [
      'leave out the values that only the store knows while it does not answer',
      { store: 'down', counts: null },
      [...OF_STORE.map(([name]) => [name, {}] as const), ...OF_PROCESS, ['store.up', { '': 0 }]],
    ],
    [
      'include the limit of payments in flight, and its refusals, if maxInFlight is set',
      { maxInFlight: 5 },
      [
        ['in_flight.limit', { '': 5 }],
        ['overload.refused', REFUSALS],
      ],
    ],
  ])('%s', async (_title, more, expected) => {
    startWith(more);
    for (const [name, values] of expected) {
      expect([name, await recorder.values(`card_payment.${name}`)]).toEqual([name, values]);
    }
  });

  it('are left out once they are ended', async () => {
    startWith({ maxInFlight: null });
    end();
    end();
    expect(await recorder.points()).toEqual([]);
    startWith();
    expect(await recorder.values('card_payment.writes.owed')).toEqual({ '': 7 });
  });
});
