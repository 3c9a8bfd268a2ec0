import { Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { PaymentClock, PaymentModule, type PaymentOptions, PaymentService, SystemClock } from 'nestjs-card-payment';
import { type HandlerWork, orderHandlers } from './order-handlers.js';
import type { SharedStore } from './shared-store.js';

const STEP_MS = 2 * 3_600_000;
const MAX_PASSES = 40;

/** The system's clock, put forward. */
class ForwardClock extends SystemClock {
  aheadMs = 0;

  override now(): Date {
    return new Date(Date.now() + this.aheadMs);
  }
}

/**
 * Comes after all processes and does what time alone would do: claims and sessions end, the gateway is asked again,
 * events come again.
 * @returns how many passes it took
 */
export async function settleWhatIsLeft(
  store: SharedStore,
  options: PaymentOptions,
  work: HandlerWork,
): Promise<number> {
  const clock = new ForwardClock();
  const payment = PaymentModule.forRoot({
    ...options,
    storeUrl: undefined,
    store: await store.connect(clock),
    background: false,
  });
  @Module({ imports: [payment], providers: orderHandlers(2, { ...work, failing: 0, hanging: 0 }) })
  class ShopModule {}
  const module = await Test.createTestingModule({ imports: [ShopModule] })
    .overrideProvider(PaymentClock)
    .useValue(clock)
    .compile();
  module.useLogger(false);
  await module.init();
  const payments = module.get(PaymentService);
  let passes = 0;
  try {
    for (let idle = 0; idle < 2 && passes < MAX_PASSES; passes += 1) {
      clock.aheadMs += STEP_MS;
      const { written, expired, interrupted, settled, delivered } = await payments.reconcile();
      idle = written + expired + interrupted + settled + delivered === 0 ? idle + 1 : 0;
    }
  } finally {
    await module.close();
  }
  return passes;
}
