// Comes after processes that were killed: does again what their buyers and merchants would do again, then what time
// alone does.
import { PaymentHostedError, PaymentRefundError } from 'nestjs-card-payment';
import { openSqlStore } from 'nestjs-card-payment/sql';
import { ClockSetAhead } from '../rigs/clock-set-ahead.js';
import { reconcileUntilIdle, startShop } from '../rigs/shop.js';
import { serveTasks } from '../rigs/tasks.mjs';
import { type Attempt, pageOf, refundOf } from './attempt.js';
import { ordersIn, type ShopSettings } from './shop.js';

const MAX_PASSES = 20;

const { account, storeUrl, journal } = JSON.parse(process.argv[2]!) as ShopSettings;
const clock = new ClockSetAhead();
const { app, payments } = await startShop({
  options: { ...account, store: await openSqlStore(storeUrl, { clock }), background: false },
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
    case 'hosted':
      // While the opening of the first page may still be under way, no second one is opened.
      await payments.startHosted({ ...pageOf(sale), conversationId: undefined }).catch(unlessOpen);
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

function unlessOpen(error: unknown): void {
  if (!(error instanceof PaymentHostedError && error.reason === 'page_open')) throw error as Error;
}

/** An order whose page was not paid is free: it can be paid in another way. */
async function payOtherwise({ sale }: Attempt): Promise<void> {
  const page = await payments.find(sale.conversationId);
  if (page?.state === 'succeeded') return;
  const { state } = await payments.doPayment({ ...sale, conversationId: undefined, idempotencyKey: undefined });
  if (state !== 'succeeded') throw new Error(`${sale.reference} is held by ${page?.conversationId} (${page?.state})`);
}

serveTasks(
  {
    /** @returns after how many passes nothing was left to do */
    settle: async (attempts: readonly Attempt[]): Promise<number> => {
      for (const attempt of attempts) await repeat(attempt);
      const passes = await reconcileUntilIdle(payments, clock, MAX_PASSES);
      const pages = attempts.filter(({ flow }) => flow === 'hosted');
      for (const attempt of pages) await payOtherwise(attempt);
      return passes + (pages.length === 0 ? 0 : await reconcileUntilIdle(payments, clock, MAX_PASSES - passes));
    },
    end: () => app.close(),
  },
  { mustEndByItself: true },
);
