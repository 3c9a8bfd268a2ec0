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
import type { BankCallback, Simulator } from 'nestjs-card-payment/simulator';
import { freePort } from '../services/server.js';

export { sale } from '../rigs/sale.js';

/** Both, for what hangs on the adapter: callbacks, errors, forms and one checkout. */
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
  /** Replaces providers of the module. */
  readonly override?: (builder: TestingModuleBuilder) => TestingModuleBuilder;
  /** The options of `NestFactory.create`, such as the logger and the body parser. */
  readonly application?: NestApplicationOptions;
}

/** Brings what the bank or the gateway's own page sends, as the buyer's browser does. */
export function bring({ request }: Pick<BankCallback, 'request'>): Promise<Response> {
  return fetch(request.url, { ...request, redirect: 'manual' });
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
