import { Logger } from '@nestjs/common';
import { observeHealth, PaymentHealth, type PaymentHealthReport } from '../../lib/health/payment-health.js';
import { PaymentOperations } from '../../lib/operations/staff.js';
import { connectTelemetry } from '../../lib/telemetry/open-telemetry.js';
import type { AssembledFlows } from '../operations/assembled-flows.js';
import { sale, TestShop } from '../operations/test-shop.js';
import { TelemetryRecorder } from '../telemetry/recorder.js';
import { expectCases } from '../rigs/case-texts.js';
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

  function startWith(more: Partial<PaymentHealthReport> = {}, maxInFlight: number | null = null): void {
    const report = reportWith(more);
    end = observeHealth({ report: () => Promise.resolve(report) }, { account: report.account, maxInFlight });
  }

  /** Whether the store of a shop in trouble answers, and `maxInFlight` if it is set. */
  async function ofShop(input: string): Promise<string> {
    const [store, maxInFlight] = input.split(' ');
    recorder.stop();
    recorder = new TelemetryRecorder().start();
    startWith(store === 'down' ? { store, counts: null } : {}, maxInFlight === undefined ? null : Number(maxInFlight));
    const points = await recorder.points();
    end();
    return points
      .map(({ name, attributes, value }) => `${name} ${Object.values(attributes).join(' ')}: ${String(value)}`)
      .join('\n');
  }

  it('have the values of the report, with times in seconds, as in expected/gauges.txt', () =>
    expectCases(import.meta.url, 'gauges.txt', { 'The gauges of a shop': ofShop }));

  it('are left out once they are ended', async () => {
    startWith();
    end();
    end();
    expect(await recorder.points()).toEqual([]);
    startWith();
    expect(await recorder.values('card_payment.writes.owed')).toEqual({ '': 7 });
  });
});
