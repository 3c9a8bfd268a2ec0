import { Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { HealthIndicatorService } from '@nestjs/terminus';
import { DEFAULT_ACCOUNT } from '../payment/account.js';
import { type PaymentHealth, type PaymentHealthReport, paymentHealthToken } from './payment-health.js';

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
  /** How far this host's clock may be ahead of the store's, or behind it, in milliseconds. */
  readonly maxClockOffsetMs?: number;
}

/** The indicator's answer for an account: its report, and what is wrong. */
export interface PaymentHealthDetails extends Omit<PaymentHealthReport, 'longRuns'> {
  readonly longRunningHandlers: number;
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
    const report = await health.report();
    const { longRuns, ...figures } = report;
    const data = { ...figures, longRunningHandlers: longRuns.length, problems: problemsOf(report, limits) };
    const indicator = this.indicators.check(key);
    return data.problems.length === 0 ? indicator.up(data) : indicator.down(data);
  }
}

function problemsOf(report: PaymentHealthReport, limits: PaymentHealthLimits): string[] {
  const { counts } = report;
  const rows: readonly (readonly [value: number | null | undefined, limit: number | undefined, text: string])[] = [
    [report.store === 'down' ? 1 : 0, 0, 'The payment store does not answer.'],
    [report.background === 'stalled' ? 1 : 0, 0, 'The background work has stalled.'],
    [report.oldestUnknownMs, limits.maxUnknownMs, 'A payment has been unknown for too long.'],
    [report.oldestUnknownRefundMs, limits.maxUnknownMs, 'A refund or void has been unknown for too long.'],
    [counts?.states.review.count, limits.maxReview, 'Payments are in review.'],
    [counts?.refunds.review.count, limits.maxReview, 'Refunds or voids are in review.'],
    [counts?.deliveries.parked, limits.maxParked, 'Deliveries to handlers are parked.'],
    [report.owedWrites, limits.maxOwed, 'Writes are owed to the payment store.'],
    [Math.abs(report.clockOffsetMs), limits.maxClockOffsetMs, "This host's clock is off the payment store's."],
  ];
  return rows.flatMap(([value, limit, text]) => ((value ?? -Infinity) > (limit ?? Infinity) ? [text] : []));
}
