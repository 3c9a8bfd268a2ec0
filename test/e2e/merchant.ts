import type { INestApplication, ModuleMetadata, NestApplicationOptions } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import {
  morposDialect,
  PaymentModule,
  type PaymentOptions,
  PaymentService,
  type PaymentStructure,
  standardDialect,
} from 'nestjs-card-payment';
import type { Simulator } from 'nestjs-card-payment/simulator';
import { freePort } from '../services/server.js';
import { inWhole } from '../rigs/extent.js';

export { sale } from '../rigs/sale.js';

export const PLATFORMS = ['express', 'fastify'] as const;
export type Platform = (typeof PLATFORMS)[number];
/** For what hangs on no adapter: callbacks, errors and one checkout are shown on both in the short tests, too. */
export const PLATFORMS_IN_TURN: readonly Platform[] = inWhole<readonly Platform[]>(PLATFORMS, ['fastify']);

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
  /** Replaces providers of the module. */
  readonly override?: (builder: TestingModuleBuilder) => TestingModuleBuilder;
  /** The options of `NestFactory.create`, such as the logger and the body parser. */
  readonly application?: NestApplicationOptions;
}

/** A merchant's application, which pays at a simulator. */
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

/** The options of a merchant who pays at the simulator. */
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
