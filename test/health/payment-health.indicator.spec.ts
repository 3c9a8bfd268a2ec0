import { Controller, Get, type INestApplication } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { HealthCheck, HealthCheckService, HealthIndicatorService, TerminusModule } from '@nestjs/terminus';
import { MemoryPaymentStore, OnPayment, PaymentModule } from 'nestjs-card-payment';
import {
  type PaymentHealthDetails,
  PaymentHealthIndicator,
  type PaymentHealthLimits,
} from 'nestjs-card-payment/health';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import type { PaymentHealthReport } from '../../lib/health/payment-health.js';
import { type Merchant, sale, simulatorOptions, startMerchant } from '../e2e/merchant.js';
import { COUNTS, NONE, reportWith } from './report-with.js';

let limits: PaymentHealthLimits & { account?: string } = {};

@Controller('health')
class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly payments: PaymentHealthIndicator,
  ) {}

  @Get()
  @HealthCheck()
  check() {
    return this.health.check([() => this.payments.check('payments', limits)]);
  }

  @OnPayment('succeeded')
  paid(): void {}
}

interface Answer {
  readonly httpStatus: number;
  readonly status: string;
  readonly details: { readonly payments: PaymentHealthDetails & { readonly status: string } };
}

describe('the health page of a terminus application', () => {
  let simulator: Simulator;
  let store: MemoryPaymentStore;
  let merchant: Merchant;
  let app: INestApplication;

  beforeAll(async () => {
    simulator = await startSimulator({ dialect: 'morpos' });
  });
  beforeEach(async () => {
    limits = {};
    store = new MemoryPaymentStore();
    const further = { ...simulatorOptions(simulator), name: 'eu', callback: false, background: false } as const;
    merchant = await startMerchant('express', simulator, {
      options: { store },
      metadata: {
        imports: [TerminusModule.forRoot({ logger: false }), PaymentModule.forRoot(further)],
        controllers: [HealthController],
        providers: [PaymentHealthIndicator],
      },
    });
    app = merchant.app;
  });
  afterEach(() => app.close());
  afterAll(() => simulator.close());

  async function health(): Promise<Answer> {
    const response = await fetch(`${merchant.url}/health`);
    return { httpStatus: response.status, ...((await response.json()) as Omit<Answer, 'httpStatus'>) };
  }

  it('is 200 with the figures if there is no problem', async () => {
    await merchant.payments.doPayment(sale());
    expect(await health()).toMatchObject({
      httpStatus: 200,
      status: 'ok',
      details: {
        payments: {
          status: 'up',
          account: 'default',
          store: 'up',
          background: 'running',
          counts: {
            states: { succeeded: { count: 1, oldest: expect.stringMatching(/^\d{4}-/) }, unknown: NONE, review: NONE },
            refunds: { refunding: NONE, unknown: NONE, review: NONE },
            deliveries: { open: 0, parked: 0, orphaned: 0 },
            otherGateway: 0,
          },
          oldestUnknownMs: null,
          oldestUnknownRefundMs: null,
          owedWrites: 0,
          longRunningHandlers: 0,
          clockOffsetMs: 0,
          problems: [],
        },
      },
    });
  });

  it('is 503 while the store does not answer, without the reason', async () => {
    store.counts = () => Promise.reject(new Error('password=secret'));
    const answer = await health();
    expect(answer).toMatchObject({
      httpStatus: 503,
      details: {
        payments: {
          status: 'down',
          store: 'down',
          counts: null,
          problems: ['The payment store does not answer.'],
        },
      },
    });
    expect(JSON.stringify(answer)).not.toContain('secret');
  });

  it('shows unknown payments and owed writes, and is 503 for them only if limits are set', async () => {
    await merchant.payments.doPayment(sale('10.96'));
    store.replace = () => Promise.reject(new Error('down'));
    await merchant.payments.doPayment(sale());
    const unlimited = await health();
    expect(unlimited).toMatchObject({
      httpStatus: 200,
      details: { payments: { counts: { states: { unknown: { count: 1 } } }, owedWrites: 1, problems: [] } },
    });
    expect(unlimited.details.payments.oldestUnknownMs).toBeGreaterThanOrEqual(0);
    limits = { maxUnknownMs: -1, maxOwed: 0, maxReview: 0, maxParked: 0, maxClockOffsetMs: 5_000 };
    const strict = await health();
    expect(strict.httpStatus).toBe(503);
    expect(strict.details.payments.problems).toEqual([
      'A payment has been unknown for too long.',
      'Writes are owed to the payment store.',
    ]);
    store.replace = MemoryPaymentStore.prototype.replace.bind(store);
    await merchant.payments.reconcile();
  });

  it('shows unknown refunds, and is 503 for them only if a limit is set', async () => {
    const { conversationId } = await merchant.payments.doPayment(sale());
    await merchant.payments.refund({ conversationId, amount: '9.81' });
    const unlimited = await health();
    expect(unlimited).toMatchObject({
      httpStatus: 200,
      details: {
        payments: {
          counts: { states: { unknown: NONE }, refunds: { refunding: NONE, unknown: { count: 1 }, review: NONE } },
          oldestUnknownMs: null,
        },
      },
    });
    expect(unlimited.details.payments.oldestUnknownRefundMs).toBeGreaterThanOrEqual(0);
    limits = { maxUnknownMs: -1, maxReview: 0 };
    const strict = await health();
    expect(strict.httpStatus).toBe(503);
    expect(strict.details.payments.problems).toEqual(['A refund or void has been unknown for too long.']);
  });

  it('can be that of a named account', async () => {
    limits = { account: 'eu' };
    expect((await health()).details.payments).toMatchObject({ account: 'eu', status: 'up', background: 'off' });
  });
});

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
