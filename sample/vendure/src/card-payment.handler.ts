import { LanguageCode, Payment, PaymentMethodHandler, Refund, TransactionalConnection } from '@vendure/core';
import { PaymentError, PaymentService } from 'nestjs-card-payment';
import { currencyCodeOf, majorUnits, minorUnits } from './amounts';

/** What a refund is in Vendure's book. Whatever is not known yet is `Pending`, until OrderBook hears of it. */
export const REFUND_STATES: Partial<Record<string, 'Settled' | 'Failed'>> = { succeeded: 'Settled', failed: 'Failed' };

let payments: PaymentService;
let connection: TransactionalConnection;

/** For a payment method whose code is `card`. */
export const cardPaymentHandler = new PaymentMethodHandler({
  code: 'card-payment',
  description: [{ languageCode: LanguageCode.en, value: 'Card' }],
  args: {},
  init(injector) {
    payments = injector.get(PaymentService);
    connection = injector.get(TransactionalConnection);
  },

  /** Only OrderBook adds payments, once their money was taken. What a buyer says in `addPaymentToOrder` proves nothing. */
  createPayment: async (ctx, order, amount, _args, { conversationId }) => {
    const payment = ctx.apiType === 'admin' ? await payments.find(String(conversationId)) : null;
    const isPaid = payment?.state === 'succeeded' && payment.reference === order.code;
    if (!isPaid || payment.currencyCode !== currencyCodeOf(order)) {
      return { amount, state: 'Declined', errorMessage: 'No money was taken for this order' };
    }
    // What was taken: if the order has grown since, Vendure waits for the rest.
    return { amount: minorUnits(payment.amount, order), state: 'Settled', transactionId: conversationId };
  },

  /** The money was taken before the payment was added. */
  settlePayment: () => ({ success: true }),

  createRefund: async (ctx, { reason }, minor, order, { id, refunds, transactionId: conversationId }) => {
    // From Vendure's book: after a crash that lost its row, and for a second administrator, it is the same refund.
    const idempotencyKey = `vendure:${id}:${refunds.length}:${minor}`;
    if (['postgres', 'mysql', 'mariadb'].includes(connection.rawConnection.options.type)) {
      // The second administrator waits here until the row of the first is committed.
      await connection.getRepository(ctx, Payment).findOne({ where: { id }, lock: { mode: 'pessimistic_write' } });
    }
    const by = `Vendure user ${ctx.activeUserId}`;
    try {
      const asked = { conversationId, amount: majorUnits(minor, order), idempotencyKey, by, note: reason || undefined };
      const { refundId: transactionId, state } = await payments.refund(asked);
      if (await connection.getRepository(ctx, Refund).existsBy({ transactionId })) {
        return { state: 'Failed', metadata: { error: `This was asked for twice, and is refund ${transactionId}` } };
      }
      return { state: REFUND_STATES[state] ?? 'Pending', transactionId };
    } catch (error) {
      // A throw means that nothing was given back.
      if (error instanceof PaymentError) return { state: 'Failed', metadata: { error: error.message } };
      throw error;
    }
  },
});
