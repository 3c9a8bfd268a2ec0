import 'reflect-metadata';
import type { INestApplicationContext, LoggerService, Provider } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { PaymentClock, PaymentModule, type PaymentOptions, PaymentService, SystemClock } from 'nestjs-card-payment';

/** A merchant's application without HTTP: what a bank's page posts is handed to `auth3d`. */
export interface Shop {
  readonly app: INestApplicationContext;
  readonly payments: PaymentService;
}

export interface ShopSetup {
  readonly options: PaymentOptions;
  /** With the shop's handlers. */
  readonly providers?: Provider[];
  readonly clock?: PaymentClock;
  readonly logger?: LoggerService;
}

/** Under Jest it is made of `lib`; in a process of its own, of the built package. */
export async function startShop({
  options,
  providers = [],
  clock = new SystemClock(),
  logger,
}: ShopSetup): Promise<Shop> {
  const payment = PaymentModule.forRoot({
    callback: false,
    returnUrl: 'https://shop.example/{token}',
    failUrl: 'https://shop.example/{token}',
    ...options,
  });
  const app = await Test.createTestingModule({ imports: [payment], providers })
    .overrideProvider(PaymentClock)
    .useValue(clock)
    .compile();
  app.useLogger(logger ?? false);
  await app.init();
  return { app, payments: app.get(PaymentService) };
}

const STEP_MS = 2 * 3_600_000;

/**
 * Does what time alone would do, by setting the clock ahead and working in the background: claims and sessions end, the
 * gateway is asked again, events come again.
 *
 * @returns how many passes it took until two in a row found nothing to do; `most` where that never came
 */
export async function reconcileUntilIdle(
  payments: PaymentService,
  clock: { aheadMs: number },
  most: number,
): Promise<number> {
  let passes = 0;
  for (let idle = 0; idle < 2 && passes < most; passes += 1) {
    clock.aheadMs += STEP_MS;
    const { written, expired, interrupted, settled, delivered } = await payments.reconcile();
    idle = written + expired + interrupted + settled + delivered === 0 ? idle + 1 : 0;
  }
  return passes;
}
