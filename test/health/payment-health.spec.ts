import { Logger } from '@nestjs/common';
import {
  observeHealth,
  PaymentHealth,
  type PaymentHealthReport,
  paymentHealthToken,
} from '../../lib/health/payment-health.js';
import { PaymentOperations } from '../../lib/operations/staff.js';
import { connectTelemetry } from '../../lib/telemetry/open-telemetry.js';
import type { AssembledFlows } from '../operations/assembled-flows.js';
import { sale, TestShop } from '../operations/test-shop.js';
import { TelemetryRecorder } from '../telemetry/recorder.js';
import { reportWith } from './report-with.js';

const UNUSED = undefined as never;

// What a shop reports, step by step, is in test/telemetry/expected/observed.txt.
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
    health = new PaymentHealth(operations, owed, events, time, settings, reconciler);
  });

  it.each([
    [0, 'running'],
    [899_999, 'running'],
    [900_000, 'stalled'],
    [null, 'stalled'],
  ])('reports a background whose last pass succeeded %s ms ago as %s, if it has any', async (idleMs, expected) => {
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

  function startWith(more: Partial<PaymentHealthReport> = {}, maxInFlight: number | null = 256): void {
    const report = reportWith(more);
    end = observeHealth({ report: () => Promise.resolve(report) }, { account: report.account, maxInFlight });
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
    ['handlers.long_running', { '': 1 }],
    ['clock.offset', { '': -2.5 }],
  ];
  const REFUSALS = { doPayment: 0, init3d: 0, startHosted: 0 };

  it.each<
    [string, Partial<PaymentHealthReport>, number | null, readonly (readonly [string, Record<string, number>])[]]
  >([
    [
      'have the values of the report, with times in seconds',
      {},
      null,
      [...OF_STORE, ...OF_PROCESS, ['store.up', { '': 1 }], ['overload.refused', {}]],
    ],
    [
      'leave out the values that only the store knows while it does not answer',
      { store: 'down', counts: null },
      256,
      [...OF_STORE.map(([name]) => [name, {}] as const), ...OF_PROCESS, ['store.up', { '': 0 }]],
    ],
    ['include its refusals if maxInFlight is set', {}, 5, [['overload.refused', REFUSALS]]],
  ])('%s', async (_title, more, maxInFlight, expected) => {
    startWith(more, maxInFlight);
    for (const [name, values] of expected) {
      expect([name, await recorder.values(`card_payment.${name}`)]).toEqual([name, values]);
    }
  });

  it('are left out once they are ended', async () => {
    startWith({}, null);
    end();
    end();
    expect(await recorder.points()).toEqual([]);
    startWith();
    expect(await recorder.values('card_payment.writes.owed')).toEqual({ '': 7 });
  });
});
