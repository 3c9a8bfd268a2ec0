import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { INestApplication, ModuleMetadata, NestApplicationOptions } from '@nestjs/common';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import {
  morposDialect,
  PaymentClock,
  PaymentModule,
  type PaymentOptions,
  PaymentService,
  type PaymentStructure,
  standardDialect,
  SystemClock,
} from 'nestjs-card-payment';
import {
  type BankCallback,
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from 'nestjs-card-payment/simulator';
import type { Engine } from './engines.js';
import { freePort } from '../services/server.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

export { sale } from '../rigs/sale.js';

/** Both, for what hangs on the adapter: callbacks, errors, forms and one checkout. */
export const PLATFORMS = ['express', 'fastify'] as const;
export type Platform = (typeof PLATFORMS)[number];

export function adapterOf(platform: Platform): AbstractHttpAdapter {
  return platform === 'express' ? new ExpressAdapter() : new FastifyAdapter();
}

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
  /** In place of the system's clock. */
  readonly clock?: PaymentClock;
}

export interface SuiteSetup extends MerchantSetup {
  readonly platform?: Platform;
  readonly gateway?: SimulatorOptions;
  /** Where payments are kept, if not in memory. */
  readonly engine?: () => Promise<Engine>;
}

export interface MerchantOfSuite extends Merchant {
  readonly simulator: Simulator;
  /** The store of the engine. */
  readonly store: PaymentStore;
}

/** Brings what the bank or the gateway's own page sends, as the buyer's browser does. */
export function bring({ request }: Pick<BankCallback, 'request'>): Promise<Response> {
  return fetch(request.url, { ...request, redirect: 'manual' });
}

/** A merchant's application, which pays at a simulator. */
export async function startMerchant(
  platform: Platform,
  simulator: Simulator,
  { options, structure, metadata, configure, override, application, clock }: MerchantSetup = {},
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
  if (clock) builder.overrideProvider(PaymentClock).useValue(clock);
  const module = await (override?.(builder) ?? builder).compile();
  const app = module.createNestApplication(adapterOf(platform), { logger: false, ...application });
  configure?.(app);
  await app.listen(port, '127.0.0.1');
  return { app, url, payments: app.get(PaymentService) };
}

/** A simulator and a merchant who pays there, from before the first test of this `describe` until after its last. */
export function useMerchant(setup: SuiteSetup = {}): MerchantOfSuite {
  const { platform = 'fastify', gateway, engine: open, clock = new SystemClock() } = setup;
  const ends: (() => Promise<unknown>)[] = [];
  const suite = {} as { -readonly [Part in keyof MerchantOfSuite]: MerchantOfSuite[Part] };
  beforeAll(async () => {
    suite.simulator = await startSimulator({ dialect: 'morpos', ...gateway });
    ends.push(() => suite.simulator.close());
    const engine = await open?.();
    ends.push(() => Promise.resolve(engine?.stop()));
    if (engine) suite.store = await engine.open(clock);
    const options = { ...(engine && { store: suite.store }), ...setup.options };
    const merchant = await startMerchant(platform, suite.simulator, { ...setup, options });
    ends.push(() => merchant.app.close());
    Object.assign(suite, merchant);
  }, 30_000);
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });
  return suite;
}

/** A simulator for the tests of this `describe`, at which each starts merchants, which end after it. */
export function useMerchants(gateway?: SimulatorOptions) {
  const apps: INestApplication[] = [];
  const suite = {
    simulator: undefined as unknown as Simulator,
    async start(platform: Platform, setup?: MerchantSetup): Promise<Merchant> {
      const merchant = await startMerchant(platform, suite.simulator, setup);
      apps.push(merchant.app);
      return merchant;
    },
    /** Ends what was started so far. */
    async close(): Promise<void> {
      for (const app of apps.splice(0)) await app.close();
    },
  };
  beforeAll(async () => {
    suite.simulator = await startSimulator({ dialect: 'morpos', ...gateway });
  });
  afterEach(async () => {
    // What a fault holds back would hold up the end of its application.
    suite.simulator.reset();
    await suite.close();
  });
  afterAll(() => suite.simulator.close());
  return suite;
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
