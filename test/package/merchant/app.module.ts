import { Module } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { PaymentModule } from 'nestjs-card-payment';
import { Orders } from './orders.js';
import { OwnCallbackController } from './own-callback.controller.js';

@Module({
  imports: [ConfigModule.forRoot(), EventEmitterModule.forRoot(), PaymentModule.forRoot()],
  controllers: [OwnCallbackController],
  providers: [Orders],
})
export class AppModule {}
