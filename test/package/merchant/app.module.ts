import { Module } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { PaymentModule } from 'nestjs-card-payment';
import { Orders } from './orders.js';

@Module({
  imports: [ConfigModule.forRoot(), EventEmitterModule.forRoot(), PaymentModule.forRoot()],
  providers: [Orders],
})
export class AppModule {}
