// One process of the shop: a Nest application that takes payments over HTTP and does what its parent asks.
import 'reflect-metadata';
import { Body, Controller, HttpCode, type INestApplication, Module, Post, UseFilters } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import {
  DoPaymentDto,
  Init3dDto,
  type Payment,
  PaymentExceptionFilter,
  PaymentHealth,
  PaymentModule,
  type PaymentOptions,
  PaymentService,
  type Refund,
  RefundDto,
  VoidDto,
} from 'nestjs-card-payment';
import { serveTasks } from '../rigs/tasks.mjs';
import { type HandlerWork, orderHandlers, type ShopVersion } from './order-handlers.js';

export interface ShopSetup {
  readonly adapter: 'express' | 'fastify';
  readonly version: ShopVersion;
  readonly work: HandlerWork;
  readonly options: PaymentOptions;
}

@Controller()
@UseFilters(PaymentExceptionFilter)
class CheckoutController {
  constructor(private readonly payments: PaymentService) {}

  @Post('direct')
  @HttpCode(200)
  direct(@Body() sale: DoPaymentDto): Promise<Payment> {
    return this.payments.doPayment(sale);
  }

  @Post('checkout')
  @HttpCode(200)
  async checkout(@Body() sale: Init3dDto): Promise<{ conversationId: string }> {
    const { conversationId } = await this.payments.init3d(sale);
    return { conversationId };
  }

  @Post('refund')
  @HttpCode(200)
  refund(@Body() refund: RefundDto): Promise<Refund> {
    return this.payments.refund(refund);
  }

  @Post('void')
  @HttpCode(200)
  void(@Body() whole: VoidDto): Promise<Refund> {
    return this.payments.void(whole);
  }
}

async function startShop({ adapter, version, work, options }: ShopSetup): Promise<INestApplication> {
  @Module({
    imports: [PaymentModule.forRoot({ ...options, callback: { waitMs: 5_000 } })],
    controllers: [CheckoutController],
    providers: orderHandlers(version, work),
  })
  class ShopModule {}
  const httpAdapter = adapter === 'express' ? new ExpressAdapter() : new FastifyAdapter();
  const app = await NestFactory.create(ShopModule, httpAdapter, { logger: ['fatal'], abortOnError: false });
  await app.listen(0, '127.0.0.1');
  return app;
}

async function heapAfterCollection(): Promise<number> {
  // What the first collection finalizes is freed by the next.
  for (let i = 0; i < 3; i += 1) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}

const app = await startShop(JSON.parse(process.argv[2]!) as ShopSetup);

serveTasks({
  url: () => app.getUrl(),
  /** Bytes in use after a garbage collection. */
  heap: heapAfterCollection,
  owedWrites: async () => (await app.get(PaymentHealth).report()).owedWrites,
  end: () => app.close(),
});
