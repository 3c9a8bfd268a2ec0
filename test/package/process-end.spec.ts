import { runScript, SALE_CODE } from './tarball.js';

/** The script of a merchant, up to the payments. It does not end the process itself. */
const PAY = `
  import 'reflect-metadata';
  import { Module } from '@nestjs/common';
  import { NestFactory } from '@nestjs/core';
  import { PaymentModule, PaymentService, PaymentSimulator } from 'nestjs-card-payment';

  class Shop {}
  Module({ imports: [PaymentModule.forRoot()] })(Shop);

  async function pay() {
    const app = await NestFactory.createApplicationContext(Shop, { logger: false });
    const [payments, simulator] = [app.get(PaymentService), app.get(PaymentSimulator)];
    const input = ${SALE_CODE};
    const direct = await payments.doPayment(input);
    const { conversationId } = await payments.init3d(input);
    const { fields } = simulator.approve(conversationId);
    const threeD = await payments.auth3d({ conversationId, fields });
    console.log(direct.state, threeD.state, simulator.ledger.total());
    return app;
  }
`;

const SIMULATOR = `
  import { Agent, request } from 'node:http';
  import { startSimulator } from 'nestjs-card-payment/simulator';

  async function call() {
    const simulator = await startSimulator({ keepAliveTimeoutMs: 600_000 });
    const agent = new Agent({ keepAlive: true });
    const answer = await new Promise((resolve) => request(simulator.url, { agent }, resolve).end());
    answer.resume();
    await new Promise((resolve) => answer.on('end', resolve));
    console.log(answer.statusCode);
    return simulator;
  }
`;

const SIMULATED = { PAYMENT_BASE_URL: 'simulator:' };

describe('a script ends by itself', () => {
  it.each([
    ['after it has closed its application on simulator:', 'pay().then((app) => app.close())'],
    ['without closing its application', 'pay()'],
  ])('%s', async (_what, last) => {
    expect(await runScript(`${PAY}${last};`, SIMULATED)).toBe('succeeded succeeded 299.80');
  });

  it.each([
    ['after it has closed its simulator', 'call().then((simulator) => simulator.close())'],
    ['without closing its simulator, which has an open connection', 'call()'],
  ])('%s', async (_what, last) => {
    expect(await runScript(`${SIMULATOR}${last};`)).toBe('404');
  });
});
