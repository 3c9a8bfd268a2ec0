import { Logger } from '@nestjs/common';
import fc from 'fast-check';
import { MemoryPaymentStore, type PaymentStore } from 'nestjs-card-payment';
import { sqlitePaymentStore } from 'nestjs-card-payment/sql';
import type { TestClock } from 'nestjs-card-payment/testing';
import { expectAgreement, expectHistories } from './agreement.js';
import { reconcile, SEQUENCES } from './commands.js';
import { PaymentModel } from './payment-model.js';
import { Shop } from './shop-instance.js';

const RELEASE = process.env.RELEASE === '1' ? 20 : 1;

beforeAll(() => {
  Logger.overrideLogger(false);
});

/** Random sequences of steps, compared with the promised states. A failure prints its seed and its shortest sequence. */
describe.each([
  ['memory', 800 * RELEASE, (clock: TestClock): PaymentStore => new MemoryPaymentStore({ clock })],
  ['SQLite', 200 * RELEASE, (clock: TestClock): PaymentStore => sqlitePaymentStore({ file: ':memory:', clock })],
])('payments in %s and the model', (_name, runs, makeStore) => {
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
          } finally {
            await shop.close();
          }
        }),
        { numRuns: runs },
      );
    },
    120_000 * RELEASE,
  );
});
