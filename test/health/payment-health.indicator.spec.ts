import { Controller, Get, type INestApplication } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { MemoryPaymentStore, OnPayment, PaymentModule } from 'nestjs-card-payment';
import {
  type PaymentHealthDetails,
  PaymentHealthIndicator,
  type PaymentHealthLimits,
} from 'nestjs-card-payment/health';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
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

  it('is 200 where all is well, with the figures', async () => {
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
          parkedDeliveries: 0,
          owedWrites: 0,
          paymentsInFlight: 0,
          maxInFlight: null,
          longRunningHandlers: 0,
          clockOffsetMs: 0,
          problems: [],
        },
      },
    });
  });

  it('is 503 while the store does not answer, and says nothing of why it does not', async () => {
    store.counts = () => Promise.reject(new Error('password=secret'));
    const answer = await health();
    expect(answer).toMatchObject({
      httpStatus: 503,
      details: {
        payments: { status: 'down', store: 'down', unknown: null, problems: ['The payment store does not answer.'] },
      },
    });
    expect(JSON.stringify(answer)).not.toContain('secret');
  });

  it('shows what people have to look at, which takes no instance out of service unless it is said to', async () => {
    await merchant.payments.doPayment(sale('10.96'));
    store.replace = () => Promise.reject(new Error('down'));
    await merchant.payments.doPayment(sale());
    const calm = await health();
    expect(calm).toMatchObject({ httpStatus: 200, details: { payments: { unknown: 1, owedWrites: 1, problems: [] } } });
    expect(calm.details.payments.oldestUnknownMs).toBeGreaterThanOrEqual(0);
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

  it('is of a named account, too', async () => {
    limits = { account: 'eu' };
    expect((await health()).details.payments).toMatchObject({ account: 'eu', status: 'up', background: 'off' });
  });
});
