import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { PaymentService } from 'nestjs-card-payment';
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { CallbackRoute } from '../../lib/options/payment-options.js';
import { AppModule } from '../../sample/src/app.module.js';
import { configureShop } from '../../sample/src/configure-shop.js';
import { DemoGateway } from '../../sample/src/demo/demo-gateway.js';
import { OrderRepository } from '../../sample/src/orders/order.repository.js';

/** The sample shop, open in this process with a simulated gateway. */
export interface Shop {
  readonly url: string;
  readonly simulator: Simulator;
  readonly payments: PaymentService;
  readonly orders: OrderRepository;
  /** Closes it and opens it again on the same data, as a new deployment would. */
  restart(): Promise<Shop>;
  close(): Promise<void>;
}

/** All visitors of a test have one address. */
const NO_LIMITS = { SHOP_ATTEMPTS_PER_VISITOR: '1000' };

/** A shop for the tests of this `describe`, with the variables; at a gateway that counts as real where `isLive`. */
export function useShop(variables: Readonly<Record<string, string>> = {}, isLive = false): Shop {
  const used = {} as Shop;
  beforeAll(async () => {
    const gateway = isLive ? await startSimulator({ dialect: 'morpos', inquiryKnowsRefunds: true }) : undefined;
    Object.assign(used, await openShop(variables, gateway));
  }, 60_000);
  afterAll(async () => {
    await used.close();
    if (isLive) await used.simulator.close();
  });
  return used;
}

/**
 * @param variables `PAYMENT_*`, `SHOP_*`
 * @param gateway used as a real gateway; without it, the shop starts its own simulator
 */
export function openShop(variables: Readonly<Record<string, string>> = {}, gateway?: Simulator): Promise<Shop> {
  return open(mkdtempSync(join(tmpdir(), 'shop-')), variables, gateway);
}

async function open(data: string, variables: Readonly<Record<string, string>>, gateway?: Simulator): Promise<Shop> {
  // A developer's .env must not send the tests to a real gateway.
  forgetVariables();
  const port = await freePort();
  const settings = gateway ? settingsFor(gateway, port) : {};
  Object.assign(process.env, NO_LIMITS, settings, variables, { SHOP_DATA: data, PORT: String(port) });

  const app = await NestFactory.create<NestExpressApplication>(AppModule, { logger: ['error'] });
  configureShop(app);
  // The buyer waits for all of it where the gateway has nothing to say, as after Cancel. The shop's own 5 s are for
  // people; less than the 2 s between two inquiries would miss a card that pays right after one that was declined.
  Object.assign(app.get(CallbackRoute), { waitMs: 3_000 });
  await app.listen(port, 'localhost');
  const simulator = app.get(DemoGateway).simulator ?? gateway;
  if (!simulator) throw new Error('The shop has started without its simulator');
  return {
    url: `http://localhost:${port}`,
    simulator,
    payments: app.get(PaymentService),
    orders: app.get(OrderRepository),
    restart: async () => {
      await app.close();
      return open(data, variables, gateway);
    },
    close: async () => {
      await app.close();
      forgetVariables();
      rmSync(data, { recursive: true });
    },
  };
}

/** SHOP_PICTURE is for the tests. */
function forgetVariables(): void {
  for (const name of Object.keys(process.env)) if (/^(PAYMENT|SHOP)_(?!PICTURE$)/.test(name)) delete process.env[name];
}

function settingsFor({ url, dialect, credentials }: Simulator, port: number): Record<string, string> {
  return {
    PAYMENT_BASE_URL: url,
    PAYMENT_DIALECT: dialect,
    PAYMENT_MERCHANT_ID: credentials.merchantId,
    PAYMENT_CLIENT_ID: credentials.clientId,
    PAYMENT_CLIENT_SECRET: credentials.clientSecret,
    PAYMENT_API_KEY: credentials.apiKey,
    PAYMENT_PUBLIC_URL: `http://localhost:${port}`,
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
