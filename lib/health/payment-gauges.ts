import { Injectable } from '@nestjs/common';
import { InFlight } from '../process/in-flight.js';
import { StoreClock } from '../process/store-clock.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { UNSETTLED_STATES } from '../payment/payment-state.js';
import { countRefused, type GaugeName, type Observation, observe } from '../telemetry/metrics.js';
import { ageOf, type PaymentHealth, type PaymentHealthReport } from './payment-health.js';

/** Shows how an account stands whenever metrics are collected. */
@Injectable()
export class PaymentGauges {
  private end: (() => void) | null = null;

  constructor(
    private readonly health: PaymentHealth,
    private readonly inFlight: InFlight,
    private readonly clock: StoreClock,
    private readonly settings: PaymentSettings,
  ) {}

  start(): void {
    const { account, maxInFlight } = this.settings;
    if (maxInFlight !== null) {
      for (const operation of ['doPayment', 'init3d'] as const) countRefused({ account, operation }, 0);
    }
    this.end ??= observe(async () => observationsOf(await this.health.report(), this.inFlight.count, this.clock.now()));
  }

  stop(): void {
    this.end?.();
    this.end = null;
  }
}

/** Of what the store did not say there is no value, rather than a wrong one. */
function observationsOf(report: PaymentHealthReport, inFlight: number, now: Date): Observation[] {
  const { account, counts } = report;
  const observed: Observation[] = [];
  const add = (name: GaugeName, value: number, more: Observation['attributes'] = {}): void =>
    void observed.push({ name, value, attributes: { 'card_payment.account': account, ...more } });

  add('card_payment.store.up', report.isStoreUp ? 1 : 0);
  add('card_payment.writes.owed', report.owedWrites);
  add('card_payment.in_flight', inFlight);
  add('card_payment.in_flight.payments', report.paymentsInFlight);
  if (report.maxInFlight !== null) add('card_payment.in_flight.limit', report.maxInFlight);
  add('card_payment.handlers.long_running', report.longRuns.length);
  add('card_payment.background.failures', report.backgroundFailures);
  add('card_payment.deliveries.failures', report.deliveryFailures);
  add('card_payment.clock.offset', report.clockOffsetMs / 1000);
  if (!counts) return observed;
  for (const state of UNSETTLED_STATES) {
    const { count, oldest } = counts.states[state];
    add('card_payment.payments', count, { 'card_payment.state': state });
    add('card_payment.payments.oldest_age', (ageOf(oldest, now) ?? 0) / 1000, { 'card_payment.state': state });
  }
  add('card_payment.events.waiting', counts.waitingEvents);
  add('card_payment.deliveries', counts.openDeliveries, { 'card_payment.delivery': 'open' });
  add('card_payment.deliveries', counts.parkedDeliveries, { 'card_payment.delivery': 'parked' });
  add('card_payment.deliveries', counts.orphanedDeliveries, { 'card_payment.delivery': 'orphaned' });
  return observed;
}
