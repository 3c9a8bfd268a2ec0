import { Inject, Injectable } from '@nestjs/common';
import { EventDispatcher } from '../events/event-dispatcher.js';
import type { LongRun } from '../events/handler-worker.js';
import { InFlight, InFlightLimit } from '../settlement/in-flight.js';
import { OwedWrites } from '../settlement/owed-writes.js';
import { Reconciler } from '../reconciler/reconciler.js';
import { StoreClock } from '../settlement/store-clock.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { DEFAULT_ACCOUNT } from '../payment/account.js';
import { otherGatewaysIn } from '../payment/gateway-id.js';
import { UNSETTLED_REFUND_STATES, UNSETTLED_SALE_STATES } from '../payment/states.js';
import { PAYMENT_STORE, type PaymentStore, type StateCount, type StoreCounts } from '../store/payment-store.js';
import { countRefused, type GaugeName, type Observation, observe } from '../telemetry/metrics.js';

/** The state of an account's payments and refunds, in this process and in its store. */
export interface PaymentHealthReport {
  readonly account: string;
  /** Whether the store answered when this report was made. */
  readonly isStoreUp: boolean;
  /**
   * The store's counts; null if it did not answer. `states` are those of payments, `refunds` those of refunds and
   * voids; events and deliveries are those of both.
   */
  readonly counts: StoreCounts | null;
  /**
   * How many payments and refunds that are not settled were made at another gateway (baseUrl, merchantId or dialect)
   * than the settings name now. Nothing is asked about them. Null if the store did not answer.
   */
  readonly otherGateway: number | null;
  /** Outcomes and other writes of this process that the store has not accepted yet. */
  readonly owedWrites: number;
  /** How many calls of `doPayment` and `init3d` are running in this process. */
  readonly paymentsInFlight: number;
  /** How many of these may run at once; null if there is no limit. */
  readonly maxInFlight: number | null;
  /** Handler calls in this process that have been running for longer than a minute. */
  readonly longRuns: readonly LongRun[];
  /** How far this host's clock is behind the store's, in milliseconds; negative when it is ahead. */
  readonly clockOffsetMs: number;
  /** Whether this process does the background work. */
  readonly background: boolean;
  /** How long ago it last began a pass, in milliseconds: a few seconds when all is well. Null if it does not run. */
  readonly backgroundIdleMs: number | null;
  /** How often in a row the store has failed the background work of this process; 0 while all is well. */
  readonly backgroundFailures: number;
  /** How often in a row the store has failed the deliveries to handlers of this process; 0 while all is well. */
  readonly deliveryFailures: number;
  /** How many events this process has purged with their payments that no handler took within 30 days. */
  readonly unheardEvents: number;
  /**
   * How long the oldest `unknown` payment has been unknown, in milliseconds; null if there is none, or the store did
   * not answer.
   */
  readonly oldestUnknownMs: number | null;
  /** The same for the oldest `unknown` refund or void. */
  readonly oldestUnknownRefundMs: number | null;
}

/**
 * Reports the state of an account's payments, for health checks and dashboards. Inject this class, or
 * `paymentHealthToken(name)` for a named account. It only reads.
 */
@Injectable()
export class PaymentHealth {
  /** @hidden */
  constructor(
    @Inject(PAYMENT_STORE) private readonly store: PaymentStore,
    private readonly owed: OwedWrites,
    private readonly events: EventDispatcher,
    private readonly clock: StoreClock,
    private readonly settings: PaymentSettings,
    private readonly reconciler: Reconciler,
    private readonly limit: InFlightLimit,
  ) {}

  /** Never rejects: that the store failed is part of the report. */
  async report(): Promise<PaymentHealthReport> {
    const { account, background, maxInFlight, gateways } = this.settings;
    const counting = [this.store.counts(account), this.store.otherGateways(account, gateways)] as const;
    const [counts, others] = await Promise.all(counting).catch(() => [null, null]);
    return {
      account,
      isStoreUp: counts !== null,
      counts,
      otherGateway: others && otherGatewaysIn(others).count,
      owedWrites: this.owed.count,
      paymentsInFlight: this.limit.count,
      maxInFlight,
      longRuns: this.events.longRuns,
      clockOffsetMs: this.clock.offsetMs,
      background,
      backgroundIdleMs: this.reconciler.idleMs,
      backgroundFailures: this.reconciler.failuresInRow,
      deliveryFailures: this.events.failuresInRow,
      unheardEvents: this.reconciler.unheardEvents,
      oldestUnknownMs: counts && ageOf(counts.states.unknown.oldest, this.clock.now()),
      oldestUnknownRefundMs: counts && ageOf(counts.refunds.unknown.oldest, this.clock.now()),
    };
  }
}

/** @returns the milliseconds since then; null for null */
export function ageOf(since: Date | null, now: Date): number | null {
  return since && Math.max(0, now.getTime() - since.getTime());
}

/** The token of an account's `PaymentHealth`: the class itself for the unnamed account. */
export function paymentHealthToken(name: string = DEFAULT_ACCOUNT): symbol | typeof PaymentHealth {
  return name === DEFAULT_ACCOUNT ? PaymentHealth : Symbol.for(`nestjs-card-payment:health:${name}`);
}

/** Reports an account's gauges whenever metrics are collected. */
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
      for (const operation of ['doPayment', 'init3d', 'startHosted'] as const) countRefused({ account, operation }, 0);
    }
    this.end ??= observe(async () => observationsOf(await this.health.report(), this.inFlight.count, this.clock.now()));
  }

  stop(): void {
    this.end?.();
    this.end = null;
  }
}

/** A gauge whose value is not known is left out. */
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
  const addStates = (
    name: 'card_payment.payments' | 'card_payment.refunds',
    states: readonly (readonly [string, StateCount])[],
  ): void => {
    for (const [state, { count, oldest }] of states) {
      add(name, count, { 'card_payment.state': state });
      add(`${name}.oldest_age`, (ageOf(oldest, now) ?? 0) / 1000, { 'card_payment.state': state });
    }
  };
  addStates(
    'card_payment.payments',
    UNSETTLED_SALE_STATES.map((state) => [state, counts.states[state]]),
  );
  addStates(
    'card_payment.refunds',
    UNSETTLED_REFUND_STATES.map((state) => [state, counts.refunds[state]]),
  );
  add('card_payment.events.waiting', counts.waitingEvents);
  add('card_payment.deliveries', counts.openDeliveries, { 'card_payment.delivery': 'open' });
  add('card_payment.deliveries', counts.parkedDeliveries, { 'card_payment.delivery': 'parked' });
  add('card_payment.deliveries', counts.orphanedDeliveries, { 'card_payment.delivery': 'orphaned' });
  return observed;
}
