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
          unknown: 0,
          oldestUnknownMs: null,
          review: 0,
          refunds: { refunding: 0, unknown: 0, oldestUnknownMs: null, review: 0 },
          parkedDeliveries: 0,
          owedWrites: 0,
          paymentsInFlight: 0,
          maxInFlight: 256,
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
          unknown: null,
          refunds: null,
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
      details: { payments: { unknown: 1, owedWrites: 1, problems: [] } },
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
      details: { payments: { unknown: 0, oldestUnknownMs: null, refunds: { refunding: 0, unknown: 1, review: 0 } } },
    });
    expect(unlimited.details.payments.refunds?.oldestUnknownMs).toBeGreaterThanOrEqual(0);
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
  const HEALTHY: PaymentHealthReport = {
    account: 'default',
    isStoreUp: true,
    counts: null,
    unheardEvents: 0,
    otherGateway: 0,
    owedWrites: 0,
    paymentsInFlight: 0,
    maxInFlight: 256,
    longRuns: [],
    clockOffsetMs: 0,
    background: true,
    backgroundIdleMs: 0,
    backgroundFailures: 0,
    deliveryFailures: 0,
    oldestUnknownMs: null,
    oldestUnknownRefundMs: null,
  };

  async function problems(report: Partial<PaymentHealthReport>, limits: PaymentHealthLimits = {}) {
    const moduleRef = {
      get: () => ({ report: () => Promise.resolve({ ...HEALTHY, ...report }) }),
    } as unknown as ModuleRef;
    const { payments } = await new PaymentHealthIndicator(new HealthIndicatorService(), moduleRef).check(
      'payments',
      limits,
    );
    expect(payments.status).toBe(payments.problems.length === 0 ? 'up' : 'down');
    return payments.problems;
  }

  it.each([6_000, -6_000])('reports a clock that is off by %d ms if the limit is lower', async (clockOffsetMs) => {
    expect(await problems({ clockOffsetMs }, { maxClockOffsetMs: 5_000 })).toEqual([
      "This host's clock is off the payment store's.",
    ]);
    expect(await problems({ clockOffsetMs }, { maxClockOffsetMs: 6_000 })).toEqual([]);
  });

  it.each([
    [0, []],
    [899_999, []],
    [900_000, ['The background work has stalled.']],
    [null, ['The background work has stalled.']],
  ])('with a last background pass %s ms ago reports %j', async (backgroundIdleMs, expected) => {
    expect(await problems({ backgroundIdleMs })).toEqual(expected);
    expect(await problems({ backgroundIdleMs, background: false })).toEqual([]);
  });

  it('reports failures of deliveries and background work only if they exceed a limit', async () => {
    const failing = { deliveryFailures: 21, backgroundFailures: 11 };
    expect(await problems(failing)).toEqual([]);
    expect(await problems(failing, { maxDeliveryFailures: 20, maxBackgroundFailures: 10 })).toEqual([
      'The payment store fails deliveries to handlers.',
      'The payment store fails the background work.',
    ]);
  });

  it('reports payments in review and parked deliveries only if they exceed a limit', async () => {
    const { counts } = await countsWith({ review: 3, parked: 2 });
    expect(await problems({ counts })).toEqual([]);
    expect(await problems({ counts }, { maxReview: 3, maxParked: 2 })).toEqual([]);
    expect(await problems({ counts }, { maxReview: 2, maxParked: 1 })).toEqual([
      'Payments are in review.',
      'Deliveries to handlers are parked.',
    ]);
  });

  it('reports refunds in review only if they exceed the limit', async () => {
    const counts = await new MemoryPaymentStore().counts('default');
    const review = { count: 3, oldest: new Date(0) };
    const some = { counts: { ...counts, refunds: { ...counts.refunds, review } } };
    expect(await problems(some)).toEqual([]);
    expect(await problems(some, { maxReview: 3 })).toEqual([]);
    expect(await problems(some, { maxReview: 2 })).toEqual(['Refunds or voids are in review.']);
  });

  /** The counts of a store with some payments in review and parked deliveries. */
  async function countsWith({ review, parked }: { review: number; parked: number }) {
    const counts = await new MemoryPaymentStore().counts('default');
    const states = { ...counts.states, review: { count: review, oldest: new Date(0) } };
    return { counts: { ...counts, states, parkedDeliveries: parked } };
  }
});
