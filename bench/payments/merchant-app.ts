import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { PaymentOptions, PaymentService } from 'nestjs-card-payment';
import { freePort } from '../../test/services/server.js';
import { until } from '../../test/services/until.js';
import type { SubjectSetup } from './caller.js';
import { FAILED_URL, MERCHANT, PAID_URL, SHOP_URL } from './sale.js';

export interface MerchantKind {
  /** Whether the application has a handler `@OnPayment('succeeded')`. */
  readonly handler?: boolean;
  /** Whether it listens for callbacks. */
  readonly listens?: boolean;
  /** Options besides those that every subject has. */
  readonly options?: PaymentOptions;
}

export interface MerchantApp {
  readonly payments: PaymentService;
  /** Waits until the handler, if there is one, has had an event of each payment. */
  readonly handled: (count: number) => Promise<void>;
  close(): Promise<void>;
}

/** This package in a merchant's application on Fastify, with the default settings. */
export async function startMerchantApp(setup: SubjectSetup, kind: MerchantKind = {}): Promise<MerchantApp> {
  const { OnPayment, PaymentModule, PaymentService } = await importPackage(setup.packageFolder);
  let events = 0;

  @Injectable()
  class OrderService {
    @OnPayment('succeeded')
    paid(): void {
      events += 1;
    }
  }

  const port = await freePort();
  const payment = PaymentModule.forRoot({
    ...MERCHANT,
    dialect: 'morpos',
    baseUrl: setup.gatewayUrl,
    storeUrl: setup.storeUrl,
    publicUrl: kind.listens ? `http://127.0.0.1:${port}` : SHOP_URL,
    successUrl: PAID_URL,
    failureUrl: FAILED_URL,
    pendingUrl: FAILED_URL,
    ...kind.options,
  });
  @Module({ imports: [payment], providers: kind.handler ? [OrderService] : [] })
  class Shop {}

  const app = await NestFactory.create<NestFastifyApplication>(Shop, new FastifyAdapter(), { logger: false });
  await (kind.listens ? app.listen(port, '127.0.0.1') : app.init());
  return {
    payments: app.get(PaymentService),
    handled: (count) => (kind.handler ? until(() => events >= count) : Promise.resolve()),
    close: () => app.close(),
  };
}

/** What `import 'nestjs-card-payment'` resolves to in an application that has this folder installed. */
async function importPackage(folder: string): Promise<typeof import('nestjs-card-payment')> {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly exports: { readonly '.': { readonly import: { readonly default: string } } };
  };
  const entry = join(folder, manifest.exports['.'].import.default);
  return (await import(pathToFileURL(entry).href)) as typeof import('nestjs-card-payment');
}
