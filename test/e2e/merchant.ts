import { createServer, type AddressInfo } from 'node:net';
import type { INestApplication, ModuleMetadata, NestApplicationOptions } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import {
  type DoPaymentDto,
  morposDialect,
  PaymentModule,
  type PaymentOptions,
  PaymentService,
  type PaymentStructure,
  standardDialect,
} from 'nestjs-card-payment';
import type { Simulator } from 'nestjs-card-payment/simulator';

export const PLATFORMS = ['express', 'fastify'] as const;
export type Platform = (typeof PLATFORMS)[number];

export interface Merchant {
  readonly app: INestApplication;
  readonly url: string;
  readonly payments: PaymentService;
}

export interface MerchantSetup {
  readonly options?: PaymentOptions;
  readonly structure?: PaymentStructure;
  readonly metadata?: ModuleMetadata;
  /** Host settings: prefix, pipes, versioning. */
  readonly configure?: (app: INestApplication) => void;
  /** Providers of the module to put others in the place of. */
  readonly override?: (builder: TestingModuleBuilder) => TestingModuleBuilder;
  /** Body parser, logger: what `NestFactory.create` takes. */
  readonly application?: NestApplicationOptions;
}

/** A real Nest application as a merchant would have it, in front of a simulator. */
export async function startMerchant(
  platform: Platform,
  simulator: Simulator,
  { options, structure, metadata, configure, override, application }: MerchantSetup = {},
): Promise<Merchant> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const builder = Test.createTestingModule({
    ...metadata,
    imports: [
      EventEmitterModule.forRoot(),
      PaymentModule.forRoot({ ...simulatorOptions(simulator), publicUrl: url, ...options, ...structure }),
      ...(metadata?.imports ?? []),
    ],
  });
  const module = await (override?.(builder) ?? builder).compile();
  const app = module.createNestApplication(platform === 'express' ? new ExpressAdapter() : new FastifyAdapter(), {
    logger: false,
    ...application,
  });
  configure?.(app);
  await app.listen(port, '127.0.0.1');
  return { app, url, payments: app.get(PaymentService) };
}

/** What a merchant sets to pay at the simulator. */
export function simulatorOptions({ url, credentials, dialect }: Simulator): PaymentOptions {
  return {
    baseUrl: url,
    ...credentials,
    dialect: dialect === 'morpos' ? morposDialect() : standardDialect({ signer: () => 'signed' }),
    successUrl: 'https://shop.example/paid',
    failureUrl: 'https://shop.example/failed',
    pendingUrl: 'https://shop.example/pending',
  };
}

let orders = 0;

/** A sale with a published test card; amounts that end in .51, .96, … are answered as the simulator's table says. */
export function sale(amount = '149.90', more: Partial<DoPaymentDto> = {}): DoPaymentDto {
  orders += 1;
  return {
    reference: `order-${orders}`,
    cardDetails: { cardNo: '4508034508034509', expDate: '1236', cvv: '000' },
    transactionDetails: { amount, currencyCode: 949, installmentCount: 1 },
    cardHolderInfo: { cardHolderName: 'ADA YILMAZ', buyerGsm: '905551112233' },
    ...more,
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
