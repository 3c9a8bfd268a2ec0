import { Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { HealthIndicatorService } from '@nestjs/terminus';
import { DEFAULT_ACCOUNT } from '../payment/account.js';
import { type PaymentHealth, type PaymentHealthReport, paymentHealthToken } from './payment-health.js';

/** The background work begins a pass every few seconds; a pass with many inquiries takes minutes. */
const STALLED_AFTER_MS = 900_000;

/**
 * Limits beyond which an account is `down`. It is always `down` if its store does not answer or its background work has
 * stopped. No limit is set by default: a person has to deal with these, and taking an instance out of service does not
 * help.
 */
export interface PaymentHealthLimits {
  /** How long a payment, a refund or a void may have been `unknown`, in milliseconds. */
  readonly maxUnknownMs?: number;
  /** How many payments may be in `review`, and how many refunds and voids. */
  readonly maxReview?: number;
  /** How many deliveries to handlers may be parked. */
  readonly maxParked?: number;
  /** How many writes this process may owe the store. */
  readonly maxOwed?: number;
  /** How often in a row the store may fail the deliveries to handlers. */
  readonly maxDeliveryFailures?: number;
  /** How often in a row the store may fail the background work. */
  readonly maxBackgroundFailures?: number;
  /** How far this host's clock may be ahead of the store's, or behind it, in milliseconds. */
  readonly maxClockOffsetMs?: number;
}

/** How many refunds and voids are in each unsettled state. */
export interface RefundHealthDetails {
  readonly refunding: number;
  readonly unknown: number;
  readonly oldestUnknownMs: number | null;
  readonly review: number;
}

/** The indicator's answer for an account. Numbers that only the store knows are null while it does not answer. */
export interface PaymentHealthDetails {
  readonly account: string;
  /** Whether the store answered, from the tables that this release reads and writes. */
  readonly store: 'up' | 'down';
  /** `off` if this process does no background work. */
  readonly background: 'running' | 'stalled' | 'off';
  readonly unknown: number | null;
  readonly oldestUnknownMs: number | null;
  readonly review: number | null;
  /** Refunds and voids that are not settled. */
  readonly refunds: RefundHealthDetails | null;
  /** Payments and refunds that are not settled, of another gateway than the settings name now. */
  readonly otherGateway: number | null;
  readonly waitingEvents: number | null;
  readonly openDeliveries: number | null;
  readonly parkedDeliveries: number | null;
  /** How many events this process has purged with their payments that no handler took within 30 days. */
  readonly unheardEvents: number;
  readonly owedWrites: number;
  /** How many calls of `doPayment` and `init3d` are running in this process. */
  readonly paymentsInFlight: number;
  /** How many of these may run at once; null if there is no limit. */
  readonly maxInFlight: number | null;
  readonly longRunningHandlers: number;
  /** How often in a row the store has failed the background work of this process. */
  readonly backgroundFailures: number;
  /** How often in a row the store has failed the deliveries to handlers of this process. */
  readonly deliveryFailures: number;
  readonly clockOffsetMs: number;
  /** The reasons why it is down, each a sentence; empty when it is up. */
  readonly problems: readonly string[];
}

/** The result of one check, as `HealthCheckService` takes it. */
export type PaymentHealthResult<Key extends string = string> = Record<
  Key,
  { readonly status: 'up' | 'down' } & PaymentHealthDetails
>;

/**
 * An indicator for @nestjs/terminus: list it among the providers of a module that imports `TerminusModule`, and call
 * `health.check([() => payments.check()])`.
 */
@Injectable()
export class PaymentHealthIndicator {
  /** A `#` field: printed, it would show the whole application. */
  readonly #moduleRef: ModuleRef;

  /** @hidden */
  constructor(
    private readonly indicators: HealthIndicatorService,
    moduleRef: ModuleRef,
  ) {
    this.#moduleRef = moduleRef;
  }

  /**
   * Checks the unnamed account, or the account that is named. It does not reject if the store is down.
   * @param key the name of this check in the answer
   */
  async check<Key extends string = 'payments'>(
    key = 'payments' as Key,
    { account = DEFAULT_ACCOUNT, ...limits }: PaymentHealthLimits & { readonly account?: string } = {},
  ): Promise<PaymentHealthResult<Key>> {
    const health = this.#moduleRef.get<PaymentHealth>(paymentHealthToken(account), { strict: false });
    const details = detailsOf(await health.report(), limits);
    const indicator = this.indicators.check(key);
    const data = { ...details };
    return details.problems.length === 0 ? indicator.up(data) : indicator.down(data);
  }
}

function detailsOf(report: PaymentHealthReport, limits: PaymentHealthLimits): PaymentHealthDetails {
  const { counts, account, isStoreUp, owedWrites, clockOffsetMs, oldestUnknownMs } = report;
  const details = {
    account,
    store: isStoreUp ? 'up' : 'down',
    background: backgroundOf(report),
    unknown: counts && counts.states.unknown.count,
    oldestUnknownMs,
    review: counts && counts.states.review.count,
    refunds: refundDetailsOf(report),
    otherGateway: report.otherGateway,
    waitingEvents: counts && counts.waitingEvents,
    openDeliveries: counts && counts.openDeliveries,
    parkedDeliveries: counts && counts.parkedDeliveries,
    unheardEvents: report.unheardEvents,
    owedWrites,
    paymentsInFlight: report.paymentsInFlight,
    maxInFlight: report.maxInFlight,
    longRunningHandlers: report.longRuns.length,
    backgroundFailures: report.backgroundFailures,
    deliveryFailures: report.deliveryFailures,
    clockOffsetMs,
  } as const;
  return { ...details, problems: problemsOf(details, limits) };
}

function refundDetailsOf({ counts, oldestUnknownRefundMs }: PaymentHealthReport): RefundHealthDetails | null {
  if (!counts) return null;
  const { refunds } = counts;
  return {
    refunding: refunds.refunding.count,
    unknown: refunds.unknown.count,
    oldestUnknownMs: oldestUnknownRefundMs,
    review: refunds.review.count,
  };
}

function backgroundOf({ background, backgroundIdleMs }: PaymentHealthReport): PaymentHealthDetails['background'] {
  if (!background) return 'off';
  return backgroundIdleMs !== null && backgroundIdleMs < STALLED_AFTER_MS ? 'running' : 'stalled';
}

function problemsOf(details: Omit<PaymentHealthDetails, 'problems'>, limits: PaymentHealthLimits): string[] {
  const isOver = (value: number | null, limit: number | undefined): boolean =>
    limit !== undefined && value !== null && value > limit;
  const { refunds } = details;
  const checks: readonly (readonly [boolean, string])[] = [
    [details.store === 'down', 'The payment store does not answer.'],
    [details.background === 'stalled', 'The background work has stalled.'],
    [isOver(details.oldestUnknownMs, limits.maxUnknownMs), 'A payment has been unknown for too long.'],
    [
      isOver(refunds && refunds.oldestUnknownMs, limits.maxUnknownMs),
      'A refund or void has been unknown for too long.',
    ],
    [isOver(details.review, limits.maxReview), 'Payments are in review.'],
    [isOver(refunds && refunds.review, limits.maxReview), 'Refunds or voids are in review.'],
    [isOver(details.parkedDeliveries, limits.maxParked), 'Deliveries to handlers are parked.'],
    [isOver(details.owedWrites, limits.maxOwed), 'Writes are owed to the payment store.'],
    [isOver(details.deliveryFailures, limits.maxDeliveryFailures), 'The payment store fails deliveries to handlers.'],
    [isOver(details.backgroundFailures, limits.maxBackgroundFailures), 'The payment store fails the background work.'],
    [isOver(Math.abs(details.clockOffsetMs), limits.maxClockOffsetMs), "This host's clock is off the payment store's."],
  ];
  return checks.flatMap(([isTrue, text]) => (isTrue ? [text] : []));
}
