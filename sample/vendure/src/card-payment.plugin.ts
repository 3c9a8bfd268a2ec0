import { Order, PluginCommonModule, ProcessContext, TransactionalConnection, VendurePlugin } from '@vendure/core';
import { type Payment, PaymentModule } from 'nestjs-card-payment';
import { majorUnits } from './amounts';
import { CardPaymentController } from './card-payment.controller';
import { cardPaymentHandler } from './card-payment.handler';
import { OrderBook } from './order-book';

const storefront = (): string => process.env['STOREFRONT_URL'] ?? 'http://localhost:8080';
const confirmation = ({ reference }: Payment): string => `${storefront()}/checkout/confirmation/${reference}`;

/** Takes cards for Vendure's orders. Set by the variables `PAYMENT_…`, and `STOREFRONT_URL`. */
@VendurePlugin({
  imports: [
    PluginCommonModule,
    PaymentModule.forRootAsync({
      imports: [PluginCommonModule],
      inject: [ProcessContext, TransactionalConnection],
      useFactory: ({ isServer }: ProcessContext, { rawConnection }: TransactionalConnection) => ({
        // Vendure's worker loads this plugin, too. It takes no payments, and one background work is enough.
        background: isServer,
        // An order that was cancelled or changed while its buyer was at the bank is not charged.
        beforeAuth3d: async ({ reference, amount }: Payment) => {
          const order = await rawConnection.getRepository(Order).findOneByOrFail({ code: String(reference) });
          return order.state === 'ArrangingPayment' && majorUnits(order.totalWithTax, order) === amount;
        },
        successUrl: confirmation,
        pendingUrl: confirmation,
        failureUrl: ({ reference }: Payment) => `${storefront()}/checkout/payment?declined=${reference}`,
      }),
      // Vendure's AuthGuard lets a route pass that asks for no permission. The callback has a token of its own.
      callback: { decorators: [] },
    }),
  ],
  controllers: [CardPaymentController],
  providers: [OrderBook],
  configuration: (config) => {
    const { paymentMethodHandlers, refundProcess = [] } = config.paymentOptions;
    paymentMethodHandlers.push(cardPaymentHandler);
    // Otherwise Vendure refuses a refund whose outcome is not known yet: `Pending` is where each begins.
    refundProcess.push({ transitions: { Pending: { to: ['Pending'], mergeStrategy: 'merge' } } });
    return config;
  },
  compatibility: '^3.0.0',
})
export class CardPaymentPlugin {}
