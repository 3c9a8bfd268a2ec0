import type { ModuleRef } from '@nestjs/core';
import { HealthIndicatorService } from '@nestjs/terminus';
import { PaymentHealthIndicator, type PaymentHealthLimits } from 'nestjs-card-payment/health';
import type { PaymentHealthReport } from '../../lib/health/payment-health.js';
import { COUNTS, reportWith } from './report-with.js';

// The page of an application is in test/telemetry/expected/observed.txt.
describe('PaymentHealthIndicator', () => {
  async function problems(report: Partial<PaymentHealthReport>, limits: PaymentHealthLimits = {}) {
    const moduleRef = { get: () => ({ report: () => Promise.resolve(reportWith(report)) }) } as unknown as ModuleRef;
    const indicator = new PaymentHealthIndicator(new HealthIndicatorService(), moduleRef);
    const { payments } = await indicator.check('payments', limits);
    expect(payments.status).toBe(payments.problems.length === 0 ? 'up' : 'down');
    return payments.problems;
  }

  it.each<[string, Partial<PaymentHealthReport>]>([
    ['The payment store does not answer.', { store: 'down', counts: null }],
    ['The background work has stalled.', { background: 'stalled' }],
  ])('reports whatever the limits: %s', async (problem, report) => {
    expect(await problems(report)).toEqual([problem]);
  });

  it.each<[string, Partial<PaymentHealthReport>, keyof PaymentHealthLimits, number]>([
    ['A payment has been unknown for too long.', { oldestUnknownRefundMs: null }, 'maxUnknownMs', 90_000],
    ['A refund or void has been unknown for too long.', { oldestUnknownMs: null }, 'maxUnknownMs', 30_000],
    ['Payments are in review.', { counts: inReview({ states: 3 }) }, 'maxReview', 3],
    ['Refunds or voids are in review.', { counts: inReview({ refunds: 4 }) }, 'maxReview', 4],
    ['Deliveries to handlers are parked.', {}, 'maxParked', 5],
    ['Writes are owed to the payment store.', {}, 'maxOwed', 7],
    ["This host's clock is off the payment store's.", { clockOffsetMs: 6_000 }, 'maxClockOffsetMs', 6_000],
    ["This host's clock is off the payment store's.", { clockOffsetMs: -6_000 }, 'maxClockOffsetMs', 6_000],
  ])('reports, only beyond its limit: %s (%j)', async (problem, report, limit, value) => {
    expect(await problems(report)).toEqual([]);
    expect(await problems(report, { [limit]: value })).toEqual([]);
    expect(await problems(report, { [limit]: value - 1 })).toEqual([problem]);
  });
});

function inReview(count: { readonly states?: number; readonly refunds?: number }): typeof COUNTS {
  const review = (of: number | undefined) => ({ review: { count: of ?? 0, oldest: null } });
  const states = { ...COUNTS.states, ...review(count.states) };
  return { ...COUNTS, states, refunds: { ...COUNTS.refunds, ...review(count.refunds) } };
}
