import { createServer } from 'node:net';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from './app.module.js';
import { configureShop } from './configure-shop.js';
import { greeting } from './greeting.js';
import { startTelemetry } from './observability/telemetry.js';
import { DemoGateway } from './demo/demo-gateway.js';

const HOST = process.env.HOST ?? 'localhost';
const wanted = Number(process.env.PORT ?? 3000);

const port = await freePort(wanted);
if (port !== wanted) console.log(`Port ${wanted} is taken; the shop uses ${port} instead.`);
process.env.PORT = String(port);

startTelemetry();
const app = await NestFactory.create<NestExpressApplication>(AppModule, { logger: ['warn', 'error', 'fatal'] });
configureShop(app);
await app.listen(port, HOST);
console.log(greeting(`http://localhost:${port}`, app.get(DemoGateway)));

/**
 * The port itself, or another one if it is taken. The payment module must know it at start-up, since the bank sends the
 * buyer back to it.
 */
function freePort(port: number): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(freePort(0));
      else reject(error);
    });
    server.listen(port, HOST, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : port));
    });
  });
}
