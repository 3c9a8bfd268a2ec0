import { Module, UseGuards } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TerminusModule } from '@nestjs/terminus';
import { type Payment, PaymentModule } from 'nestjs-card-payment';
import { PaymentDeskModule } from 'nestjs-card-payment/desk';
import { PaymentHealthIndicator } from 'nestjs-card-payment/health';
import { CheckoutApiController } from './api/checkout-api.controller.js';
import { Basket } from './basket/basket.js';
import { BasketController } from './basket/basket.controller.js';
import { Catalogue } from './catalogue/catalogue.js';
import { AttemptLimits } from './checkout/attempt-limits.js';
import { CardController } from './checkout/card.controller.js';
import { CheckoutController } from './checkout/checkout.controller.js';
import { PaymentPageController } from './checkout/payment-page.controller.js';
import { dataFile } from './data-files.js';
import { DemoGateway } from './demo/demo-gateway.js';
import { DemoModule } from './demo/demo.module.js';
import { ObservabilityController } from './observability/observability.controller.js';
import { OrderRepository } from './orders/order.repository.js';
import { OrderPayments } from './orders/order-payments.js';
import { OrdersController } from './orders/orders.controller.js';
import { ShopDatabase } from './orders/shop-database.js';
import { ShopController } from './shop.controller.js';
import { StaffAccess } from './staff/staff-access.js';
import { StaffGuard } from './staff/staff.guard.js';
import { StaffModule } from './staff/staff.module.js';

/** The buyer always comes back to the order's page. */
const orderUrl = ({ reference }: Payment): string => `/orders/${reference}`;

@Module({
  imports: [
    ConfigModule.forRoot(),
    EventEmitterModule.forRoot(),
    TerminusModule.forRoot({ logger: false }),
    AttemptLimits,
    DemoModule,
    PaymentModule.forRootAsync({
      // Then the buyer sees the order's page, which looks again by itself.
      callback: { waitMs: 5_000 },
      inject: [DemoGateway],
      useFactory: (demo: DemoGateway) => ({
        storeUrl: process.env.PAYMENT_STORE_URL ?? `sqlite:${dataFile('payments.sqlite')}`,
        successUrl: orderUrl,
        failureUrl: orderUrl,
        pendingUrl: orderUrl,
        ...demo.paymentOptions,
      }),
    }),
    StaffModule,
    PaymentDeskModule.forRoot({ access: StaffAccess, imports: [StaffModule], decorators: [UseGuards(StaffGuard)] }),
  ],
  controllers: [
    ShopController,
    BasketController,
    CheckoutController,
    CardController,
    PaymentPageController,
    OrdersController,
    CheckoutApiController,
    ObservabilityController,
  ],
  providers: [Basket, Catalogue, OrderRepository, OrderPayments, PaymentHealthIndicator, ShopDatabase],
})
export class AppModule {}
