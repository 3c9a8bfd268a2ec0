import { Module } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { PaymentModule } from 'nestjs-card-payment';
import { CheckoutModule, orderPages } from './checkout/checkout.module.js';

@Module({
  imports: [
    ConfigModule.forRoot(),
    PaymentModule.forRoot(orderPages),
    CheckoutModule,
  ],
})
export class AppModule {}
