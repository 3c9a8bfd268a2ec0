// Comes after processes that were killed: does again what their buyers and merchants would do again, then what time
// alone does.
import { PaymentRefundError } from 'nestjs-card-payment';
import { ClockSetAhead } from '../rigs/clock-set-ahead.js';
import { storeAt } from '../rigs/shared-stores.js';
import { reconcileUntilIdle, startShop } from '../rigs/shop.js';
import { serveTasks } from '../rigs/tasks.mjs';
import { type Attempt, refundOf } from './attempt.js';
import { ordersIn, type ShopSettings } from './shop.js';

const MAX_PASSES = 20;

const { account, storeUrl, journal } = JSON.parse(process.argv[2]!) as ShopSettings;
const clock = new ClockSetAhead();
const { app, payments } = await startShop({
  options: { ...account, store: await storeAt(storeUrl, clock), background: false },
  providers: [ordersIn(journal)],
  clock,
});

async function repeat({ flow, sale, fields }: Attempt): Promise<void> {
  const { conversationId, ...again } = sale;
  switch (flow) {
    case 'direct':
      // The merchant may not know the id that the first attempt had.
      await payments.doPayment(again);
      await payments.doPayment(sale);
      return;
    case 'init3d':
      // The first page is lost, so the buyer pays in a new session.
      await payments.init3d({ ...again, idempotencyKey: undefined });
      return;
    case 'auth3d':
      await payments.auth3d({ conversationId, fields: fields ?? {} });
      return;
    case 'refund':
    case 'void':
    case 'recordRefund': {
      const refund = refundOf(sale, flow);
      // The page has the key, the merchant's own records the id.
      await payments[flow]({ ...refund, refundId: undefined });
      await payments[flow](refund);
      await refuseMore(conversationId);
    }
  }
}

/** More than is left, whatever became of the refund: nothing may be sent. */
async function refuseMore(conversationId: string): Promise<void> {
  try {
    await payments.refund({ conversationId, amount: '149.90' });
  } catch (error) {
    if (error instanceof PaymentRefundError) return;
    throw error;
  }
  throw new Error(`${conversationId} was given back wholly, though a part of it was asked for before`);
}

serveTasks(
  {
    /** @returns after how many passes nothing was left to do */
    settle: async (attempts: readonly Attempt[]): Promise<number> => {
      for (const attempt of attempts) await repeat(attempt);
      return reconcileUntilIdle(payments, clock, MAX_PASSES);
    },
    end: () => app.close(),
  },
  { mustEndByItself: true },
);
