import type { INestApplicationContext, Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  OnPayment,
  PaymentClock,
  PaymentModule,
  type PaymentOptions,
  PaymentService,
  SystemClock,
} from 'nestjs-card-payment';
import { InstantGateway } from './instant-gateway.js';

/** The system's clock, which can be set ahead. */
export class MovedClock extends SystemClock {
  ahead = 0;

  override now(): Date {
    return new Date(Date.now() + this.ahead);
  }
}

/** Counts the events. */
class Handler {
  calls = 0;

  @OnPayment(['succeeded', 'failed', 'expired', 'unknown', 'review'])
  settled(): void {
    this.calls += 1;
  }
}

export interface BenchMerchant {
  readonly payments: PaymentService;
  readonly clock: MovedClock;
  readonly gateway: InstantGateway;
  readonly app: INestApplicationContext;
}

/** Starts a merchant's application whose gateway answers at once. */
export async function startMerchant(options: PaymentOptions, handler: Type = Handler): Promise<BenchMerchant> {
  const [clock, gateway] = [new MovedClock(), new InstantGateway()];
  const module = PaymentModule.forRoot({
    baseUrl: 'https://gateway.example',
    merchantId: 'bench',
    clientId: 'bench',
    clientSecret: 'YmVuY2g=',
    apiKey: 'bench',
    dialect: 'morpos',
    callback: false,
    returnUrl: 'https://shop.example/{token}',
    failUrl: 'https://shop.example/{token}',
    dispatcher: gateway,
    ...options,
  });
  const app = await Test.createTestingModule({ imports: [module], providers: [handler] })
    .overrideProvider(PaymentClock)
    .useValue(clock)
    .compile();
  app.useLogger(false);
  await app.init();
  return { payments: app.get(PaymentService), clock, gateway, app };
}
