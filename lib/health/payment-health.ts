import { Inject, Injectable } from '@nestjs/common';
import { EventDispatcher } from '../events/event-dispatcher.js';
import type { LongRun } from '../events/handler-worker.js';
import { type OperationsCounts, PaymentOperations } from '../operations/staff.js';
import { PaymentSettings } from '../options/payment-settings.js';
import { DEFAULT_ACCOUNT } from '../payment/account.js';
import { UNSETTLED_REFUND_STATES, UNSETTLED_SALE_STATES } from '../payment/states.js';
import { Reconciler } from '../reconciler/reconciler.js';
import { OwedWrites } from '../settlement/owed-writes.js';
import { StoreClock } from '../settlement/store-clock.js';
import type { StateCount } from '../store/payment-store.js';
import { countRefused, type GaugeName, type Observation, observe } from '../telemetry/metrics.js';

/** The background work makes a pass every few seconds. */
const STALLED_AFTER_MS = 900_000;

/** The state of an account's payments and refunds, in this process and in its store. */
export interface PaymentHealthReport {
  readonly account: string;
  /** When this report was made, by the store's clock. */
  readonly at: Date;
  /** Whether the store answered, from the tables that this release reads and writes. */
  readonly store: 'up' | 'down';
  /** What `PaymentOperations.counts()` gave; null while the store does not answer. */
  readonly counts: OperationsCounts | null;
  /**
   * How long the oldest `unknown` payment has been unknown, in milliseconds; null if there is none, or the store did
   * not answer.
   */
  readonly oldestUnknownMs: number | null;
  /** The same for the oldest `unknown` refund or void. */
  readonly oldestUnknownRefundMs: number | null;
  /** Outcomes and other writes of this process that the store has not accepted yet. */
  readonly owedWrites: number;
  /** Handler calls in this process that have been running for longer than a minute. */
  readonly longRuns: readonly LongRun[];
  /** How far this host's clock is behind the store's, in milliseconds; negative when it is ahead. */
  readonly clockOffsetMs: number;
  /** `off` if this process does no background work, `stalled` if no pass has succeeded for a quarter of an hour. */
  readonly background: 'running' | 'stalled' | 'off';
  /** How long ago a pass last succeeded, in milliseconds: a few seconds when all is well. Null if there was none. */
  readonly backgroundIdleMs: number | null;
  /** How many events this process has purged with their payments that no handler took within 30 days. */
  readonly unheardEvents: number;
}

/** The token of an account's `PaymentHealth`: the class itself for the unnamed account. */
export function paymentHealthToken(name: string = DEFAULT_ACCOUNT): symbol | typeof PaymentHealth {
  return name === DEFAULT_ACCOUNT ? PaymentHealth : Symbol.for(`nestjs-card-payment:health:${name}`);
}

/** The injection token of an account's `PaymentOperations` inside its own module. */
export const OWN_OPERATIONS = Symbol.for('nestjs-card-payment:own-operations');

/**
 * Reports the state of an account's payments, for health checks and dashboards. Inject this class, or
 * `paymentHealthToken(name)` for a named account. It only reads.
 */
@Injectable()
export class PaymentHealth {
  /** @hidden */
  constructor(
    @Inject(OWN_OPERATIONS) private readonly operations: PaymentOperations,
    private readonly owed: OwedWrites,
    private readonly events: EventDispatcher,
    private readonly clock: StoreClock,
    private readonly settings: PaymentSettings,
    private readonly reconciler: Reconciler,
  ) {}

  /** Never rejects: that the store failed is part of the report. */
  async report(): Promise<PaymentHealthReport> {
    const counts = await this.operations.counts().catch(() => null);
    const { account, background } = this.settings;
    const { idleMs } = this.reconciler;
    const isRunning = idleMs !== null && idleMs < STALLED_AFTER_MS;
    const at = this.clock.now();
    return {
      account,
      at,
      store: counts ? 'up' : 'down',
      counts,
      oldestUnknownMs: counts && ageOf(counts.states.unknown, at),
      oldestUnknownRefundMs: counts && ageOf(counts.refunds.unknown, at),
      owedWrites: this.owed.count,
      longRuns: this.events.longRuns,
      clockOffsetMs: this.clock.offsetMs,
      background: background ? (isRunning ? 'running' : 'stalled') : 'off',
      backgroundIdleMs: idleMs,
      unheardEvents: this.reconciler.unheardEvents,
    };
  }
}

/** @returns how long the oldest has been in its state, in milliseconds; null if there is none */
function ageOf({ oldest }: StateCount, at: Date): number | null {
  return oldest && Math.max(0, at.getTime() - oldest.getTime());
}

/**
 * Reports an account's gauges whenever metrics are collected.
 *
 * @returns a function that ends this
 */
export function observeHealth(
  health: Pick<PaymentHealth, 'report'>,
  { account, maxInFlight }: Pick<PaymentSettings, 'account' | 'maxInFlight'>,
): () => void {
  // Creates the series before anything is refused, so that collectors see its first increase.
  const limited = maxInFlight === null ? [] : (['doPayment', 'init3d', 'startHosted'] as const);
  for (const operation of limited) countRefused({ account, operation }, 0);
  return observe(async () => observationsOf(await health.report()));
}

/** A gauge whose value is not known is left out. */
function observationsOf(report: PaymentHealthReport): Observation[] {
  const { account, at, counts } = report;
  const ofAccount = { 'card_payment.account': account };
  const ofProcess: readonly (readonly [GaugeName, number | null])[] = [
    ['card_payment.store.up', counts ? 1 : 0],
    ['card_payment.writes.owed', report.owedWrites],
    ['card_payment.handlers.long_running', report.longRuns.length],
    ['card_payment.clock.offset', report.clockOffsetMs / 1000],
    ['card_payment.events.waiting', counts && counts.deliveries.waiting - counts.deliveries.open],
  ];
  const observed = ofProcess.flatMap(([name, value]) =>
    value === null ? [] : [{ name, value, attributes: ofAccount }],
  );
  if (!counts) return observed;
  const { states, refunds, deliveries } = counts;
  const ofStates = (name: 'card_payment.payments' | 'card_payment.refunds', state: string, count: StateCount) => {
    const attributes = { ...ofAccount, 'card_payment.state': state };
    return [
      { name, value: count.count, attributes },
      { name: `${name}.oldest_age`, value: (ageOf(count, at) ?? 0) / 1000, attributes },
    ] as const;
  };
  return [
    ...observed,
    ...UNSETTLED_SALE_STATES.flatMap((state) => ofStates('card_payment.payments', state, states[state])),
    ...UNSETTLED_REFUND_STATES.flatMap((state) => ofStates('card_payment.refunds', state, refunds[state])),
    ...(['open', 'parked', 'orphaned'] as const).map((kind) => {
      const attributes = { ...ofAccount, 'card_payment.delivery': kind };
      return { name: 'card_payment.deliveries', value: deliveries[kind], attributes } as const;
    }),
  ];
}
