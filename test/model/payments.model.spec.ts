import { Logger } from '@nestjs/common';
import fc from 'fast-check';
import { MemoryPaymentStore, type PaymentStore } from 'nestjs-card-payment';
import { sqlitePaymentStore } from 'nestjs-card-payment/sql';
import type { TestClock } from 'nestjs-card-payment/testing';
import { inWhole } from '../rigs/extent.js';
import { expectAgreement, expectHistories, expectRefundHistories } from './agreement.js';
import { reconcile } from './commands.js';
import { PaymentModel } from './payment-model.js';
import { SEQUENCES } from './sequences.js';
import { Shop } from './shop-instance.js';

const TIMES = inWhole(100, 1);

describe('payments model', () => {
  beforeAll(() => {
    Logger.overrideLogger(false);
  });

  /** Random sequences of steps, compared with the promised states. A failure prints its seed and its shortest sequence. */
  describe.each([
    ['memory', 200 * TIMES, (clock: TestClock): PaymentStore => new MemoryPaymentStore({ clock })],
    ['SQLite', 50 * TIMES, (clock: TestClock): PaymentStore => sqlitePaymentStore({ file: ':memory:', clock })],
  ])('payments and refunds in %s and the model', (_name, runs, makeStore) => {
    it(
      `agree in ${runs} random sequences`,
      async () => {
        await fc.assert(
          fc.asyncProperty(SEQUENCES, async (steps) => {
            const model = new PaymentModel();
            const shop = await Shop.open(makeStore);
            try {
              for (const step of steps) await step.run(model, shop);
              await reconcile(model, shop);
              await expectAgreement(model, shop);
              await expectHistories(model, shop);
              await expectRefundHistories(model, shop);
            } finally {
              await shop.close();
            }
          }),
          { numRuns: runs },
        );
      },
      60_000 * TIMES,
    );
  });
});
