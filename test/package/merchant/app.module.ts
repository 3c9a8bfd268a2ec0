import { Module } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { PaymentModule } from 'nestjs-card-payment';
import { CheckoutController } from './checkout.controller.js';
import { Orders } from './orders.js';
import { OwnCallbackController } from './own-callback.controller.js';

@Module({
  imports: [ConfigModule.forRoot(), EventEmitterModule.forRoot(), PaymentModule.forRoot()],
  controllers: [OwnCallbackController, CheckoutController],
  providers: [Orders],
})
export class AppModule {}
