import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { PaymentService } from 'nestjs-card-payment';
import type { Simulator } from 'nestjs-card-payment/simulator';
import { AppModule } from '../../sample/src/app.module.js';
import { configureShop } from '../../sample/src/configure-shop.js';
import { DemoGateway } from '../../sample/src/demo/demo-gateway.js';

/** The sample shop, open in this process with a simulated gateway. */
export interface Shop {
  readonly url: string;
  readonly simulator: Simulator;
  readonly payments: PaymentService;
  /** Closes it and opens it again on the same data, as a new deployment would. */
  restart(): Promise<Shop>;
  close(): Promise<void>;
}

/** @param variables `PAYMENT_*` */
export function openShop(variables: Readonly<Record<string, string>> = {}): Promise<Shop> {
  return open(mkdtempSync(join(tmpdir(), 'shop-')), variables);
}

async function open(data: string, variables: Readonly<Record<string, string>>): Promise<Shop> {
  // A developer's .env must not send the tests to a real gateway.
  for (const name of Object.keys(process.env)) if (name.startsWith('PAYMENT_')) delete process.env[name];
  const port = await freePort();
  Object.assign(process.env, variables, { SHOP_DATA: data, PORT: String(port) });

  const app = await NestFactory.create<NestExpressApplication>(AppModule, { logger: ['error'] });
  configureShop(app);
  await app.listen(port, 'localhost');
  const { simulator } = app.get(DemoGateway);
  if (!simulator) throw new Error('The shop has started without its simulator');
  return {
    url: `http://localhost:${port}`,
    simulator,
    payments: app.get(PaymentService),
    restart: async () => {
      await app.close();
      return open(data, variables);
    },
    close: async () => {
      await app.close();
      rmSync(data, { recursive: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
