import { Module } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import type { Payment } from 'nestjs-card-payment';
import { CheckoutController } from './checkout.controller.js';
import { OrderService } from './order.service.js';
import { CHECKOUT } from './pages.js';

const orderUrl = ({ reference }: Payment): string => `${CHECKOUT}/${reference}`;

/** For `PaymentModule`: the buyer always comes back to the order's page. */
export const orderPages = {
  successUrl: orderUrl,
  failureUrl: orderUrl,
  pendingUrl: orderUrl,
};

@Module({
  imports: [ConfigModule],
  controllers: [CheckoutController],
  providers: [OrderService],
})
export class CheckoutModule {}
