import type { InFlight } from '../../lib/process/in-flight.js';
import type { StoreClock } from '../../lib/process/store-clock.js';
import { PaymentGauges } from '../../lib/health/payment-gauges.js';
import type { PaymentHealth, PaymentHealthReport } from '../../lib/health/payment-health.js';
import type { PaymentSettings } from '../../lib/options/payment-settings.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { connectTelemetry } from '../../lib/telemetry/open-telemetry.js';
import { TelemetryRecorder } from '../telemetry/recorder.js';

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
        waitingEvents: 3,
        openDeliveries: 4,
        parkedDeliveries: 5,
        orphanedDeliveries: 6,
      },
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
    expect(await recorder.values('card_payment.payments.oldest_age')).toMatchObject({ unknown: 90, review: 0 });
  });

  it('include the limit of payments in flight, and its refusals, only if maxInFlight is set', async () => {
    const names = ['card_payment.in_flight.limit', 'card_payment.overload.refused'];
    (await startGauges()).stop();
    for (const name of names) expect(await recorder.values(name)).toEqual({});
    await startGauges({ maxInFlight: 5 });
    expect(await Promise.all(names.map((name) => recorder.values(name)))).toEqual([
      { '': 5 },
      { doPayment: 0, init3d: 0 },
    ]);
  });

  it('leave out the values that only the store knows while it does not answer', async () => {
    await startGauges({ isStoreUp: false, counts: null });
    expect(await recorder.values('card_payment.store.up')).toEqual({ '': 0 });
    expect(await recorder.values('card_payment.writes.owed')).toEqual({ '': 7 });
    for (const name of ['payments', 'payments.oldest_age', 'events.waiting', 'deliveries']) {
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
