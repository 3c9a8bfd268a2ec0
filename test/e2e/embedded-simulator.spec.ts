import type { AddressInfo, Server } from 'node:net';
import { inspect } from 'node:util';
import {
  type INestApplication,
  type INestApplicationContext,
  Injectable,
  type LoggerService,
  Module,
  type ModuleMetadata,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import {
  OnPayment,
  PaymentClock,
  PaymentConfigurationError,
  type PaymentEvent,
  PaymentModule,
  PaymentService,
  PaymentSimulator,
  paymentSimulatorToken,
  paymentToken,
} from 'nestjs-card-payment';
import { type BankCallback, type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { aPayment, TestClock } from 'nestjs-card-payment/testing';
import { PLATFORMS, type Platform, sale, simulatorOptions } from './merchant.js';

class KeptLog implements LoggerService {
  readonly warnings: string[] = [];
  log(): void {}
  error(): void {}
  warn(message: unknown): void {
    this.warnings.push(String(message));
  }
}

const open: INestApplicationContext[] = [];
const env = { ...process.env };

describe('embedded simulator', () => {
  beforeEach(() => {
    process.env.PAYMENT_BASE_URL = 'simulator:';
    process.env.PAYMENT_SUCCESS_URL = 'https://shop.example/paid';
  });
  afterEach(async () => {
    for (const app of open.splice(0)) await app.close();
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
  });

  const adapterOf = (platform: Platform) => (platform === 'express' ? new ExpressAdapter() : new FastifyAdapter());

  /** A shop whose only setting is the simulator, before it starts and listens. */
  async function shopOn(platform: Platform, metadata: ModuleMetadata = {}): Promise<INestApplication> {
    @Module({ ...metadata, imports: metadata.imports ?? [PaymentModule.forRoot()] })
    class ShopModule {}
    const app = await NestFactory.create(ShopModule, adapterOf(platform), { logger: false, abortOnError: false });
    open.push(app);
    return app;
  }

  describe.each(PLATFORMS)('a shop with nothing configured, on %s', (platform) => {
    it('takes direct and 3D payments, and its handlers are called', async () => {
      const paid: (string | null)[] = [];
      @Injectable()
      class Orders {
        @OnPayment('succeeded')
        paid({ payment }: PaymentEvent): void {
          paid.push(payment.reference);
        }
      }
      const app = await shopOn(platform, { providers: [Orders] });
      await app.listen(0);
      const [payments, simulator] = [app.get(PaymentService), app.get(PaymentSimulator)];

      const [card] = simulator.testCards;
      const direct = await payments.doPayment(sale('10.00', { reference: 'direct', cardDetails: card }));
      expect(direct.state).toBe('succeeded');

      const { html, conversationId } = await payments.init3d(sale('20.00', { reference: '3d', cardDetails: card }));
      const answer = await throughTheBank(html);
      expect(answer.headers.get('location')).toBe(`https://shop.example/paid?conversationId=${conversationId}`);
      expect(await payments.find(conversationId)).toMatchObject({ state: 'succeeded' });
      expect(simulator.ledger.total()).toBe('30.00');
      expect(simulator.ledger.violations).toEqual([]);
      await payments.reconcile();
      expect(paid.sort()).toEqual(['3d', 'direct']);
    });

    it.each([
      ['no host', undefined, 'localhost'],
      ['one address', '127.0.0.2', '127.0.0.2'],
    ])('is where the bank sends the buyer, listening on %s, below its prefix', async (_what, host, expected) => {
      const app = await shopOn(platform);
      app.setGlobalPrefix('api');
      await (host === undefined ? app.listen(0) : app.listen(0, host));
      const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();
      const { conversationId } = await app.get(PaymentService).init3d(sale());
      const callback = app.get(PaymentSimulator).approve(conversationId);
      expect(callback.url).toMatch(new RegExp(`^http://${expected}:${port}/api/payments/[\\w-]{43}/return$`));
      expect(await stateAfter(app, callback)).toBe('succeeded');
    });

    it('that starts a payment before it listens has the right path at once, and the right address once it listens', async () => {
      const app = await shopOn(platform);
      await app.init();
      const simulator = app.get(PaymentSimulator);
      const early = simulator.approve((await app.get(PaymentService).init3d(sale())).conversationId);
      expect(early.url).toMatch(/^http:\/\/localhost\/payments\/[\w-]{43}\/return$/);

      await app.listen(0);
      const { url } = simulator.approve((await app.get(PaymentService).init3d(sale())).conversationId);
      const moved = new URL(new URL(early.url).pathname, url).href;
      expect(await stateAfter(app, { ...early, request: { ...early.request, url: moved } })).toBe('succeeded');
    });

    it.each([
      ['0.0.0.0', '0.0.0.0'],
      ['::', '::'],
    ])('does not listen on %s while NODE_ENV is not set, whatever its public address', async (host, shown) => {
      delete process.env.NODE_ENV;
      process.env.PAYMENT_PUBLIC_URL = 'http://localhost:3000';
      const app = await shopOn(platform);
      const failure: unknown = await app.listen(0, host).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(PaymentConfigurationError);
      expect(String(failure)).toContain(
        `while NODE_ENV is not set and the server listens on ${shown}, not on 127.0.0.1`,
      );
      await new Promise(process.nextTick);
      expect((app.getHttpServer() as Server).listening).toBe(false);
    });

    it.each([
      ['127.0.0.1', undefined],
      ['localhost', ''],
      ['0.0.0.0', 'development'],
      ['0.0.0.0', 'test'],
    ])('listens on %s with NODE_ENV %j', async (host, environment) => {
      delete process.env.NODE_ENV;
      if (environment !== undefined) process.env.NODE_ENV = environment;
      const app = await shopOn(platform);
      await app.listen(0, host);
      expect((app.getHttpServer() as Server).listening).toBe(true);
    });

    it('keeps the address that it is given', async () => {
      process.env.PAYMENT_PUBLIC_URL = 'https://tunnel.example';
      const app = await shopOn(platform);
      await app.listen(0);
      const { conversationId } = await app.get(PaymentService).init3d(sale());
      expect(app.get(PaymentSimulator).approve(conversationId).url).toMatch('https://tunnel.example/payments/');
    });
  });

  it('serves an application without HTTP', async () => {
    const app = await contextOf([PaymentModule.forRoot()]);
    const payments = app.get(PaymentService);
    const { conversationId } = await payments.init3d(sale());
    const { fields } = app.get(PaymentSimulator).approve(conversationId);
    expect(await payments.auth3d({ conversationId, fields })).toMatchObject({ state: 'succeeded' });
  });

  it('replaces a real gateway, whose settings may stay', async () => {
    const elsewhere = await startSimulator();
    const options = { ...simulatorOptions(elsewhere), baseUrl: 'simulator:', publicUrl: 'http://localhost:3000' };
    const app = await contextOf([PaymentModule.forRoot({ ...options, verifySign: true })]);
    expect(await app.get(PaymentService).doPayment(sale())).toMatchObject({ state: 'succeeded' });
    expect(app.get(PaymentSimulator).ledger.charges).toHaveLength(1);
    expect(elsewhere.requests).toEqual([]);
    await elsewhere.close();
  });

  it('loses answers on demand, and answers the inquiry', async () => {
    const app = await contextOf([PaymentModule.forRoot()]);
    const [payments, simulator] = [app.get(PaymentService), app.get(PaymentSimulator)];
    simulator.fail({ operation: 'DoPayment', at: 'after', kind: 'reset' });
    const payment = await payments.doPayment(sale());
    expect(payment.state).toBe('unknown');
    expect(simulator.ledger.chargedTimes(payment.conversationId)).toBe(1);
    expect(await payments.inquire(payment.conversationId)).toMatchObject({ state: 'succeeded' });
    simulator.reset();
    expect(simulator.ledger.charges).toEqual([]);
  });

  it('uses the clock of the application', async () => {
    const clock = new TestClock(new Date('2031-06-01T12:00:00Z'));
    const module = await Test.createTestingModule({ imports: [PaymentModule.forRoot()] })
      .overrideProvider(PaymentClock)
      .useValue(clock)
      .compile();
    open.push(await module.init());
    const [payments, simulator] = [module.get(PaymentService), module.get(PaymentSimulator)];
    expect(simulator.testCards.map(({ expDate }) => expDate)).toEqual(['1148', '1236']);
    const { conversationId } = await payments.init3d(sale());
    await clock.advance(3_600_001);
    await payments.reconcile();
    expect(await payments.find(conversationId)).toMatchObject({ state: 'expired' });
    expect(await payments.doPayment(sale())).toMatchObject({ state: 'succeeded' });
  });

  it('works in an application whose PaymentService a test replaces', async () => {
    @Injectable()
    class Orders {
      constructor(readonly payments: PaymentService) {}
    }
    const payment = aPayment({ state: 'unknown' });
    const imports = [PaymentModule.forRoot()];
    const module = await Test.createTestingModule({ imports, providers: [Orders] })
      .overrideProvider(PaymentService)
      .useValue({ doPayment: () => Promise.resolve(payment) })
      .compile();
    open.push(await module.init());
    expect(await module.get(Orders).payments.doPayment(sale())).toBe(payment);
    expect(module.get(PaymentSimulator).ledger.calls('DoPayment')).toBe(0);
  });

  it('plays a buyer who cancels', async () => {
    const app = await contextOf([PaymentModule.forRoot()]);
    const [payments, simulator] = [app.get(PaymentService), app.get(PaymentSimulator)];
    const { conversationId, content } = await payments.init3d(sale());
    const { url, fields } = simulator.answer(content, { code: 'cancel' });
    expect(url).toMatch(/\/fail$/);
    expect(await payments.auth3d({ conversationId, fields })).toMatchObject({ state: 'failed' });
    expect(simulator.ledger.charges).toEqual([]);
  });

  it("plays buyers at the gateway's own page", async () => {
    const app = await contextOf([PaymentModule.forRoot()]);
    const [payments, simulator] = [app.get(PaymentService), app.get(PaymentSimulator)];
    const start = () => payments.startHosted({ transactionDetails: { amount: '30.00', currencyCode: 949 } });
    const [paid, left, over] = [await start(), await start(), await start()];

    expect(simulator.payAtPage(paid.redirectUrl!)).toMatchObject({ charged: true, copies: 1 });
    expect(await payments.inquire(paid.conversationId)).toMatchObject({ state: 'succeeded', maskedCardNumber: null });
    expect(simulator.payAtPage(left.conversationId, { cardNo: '4111111111111111' })).toMatchObject({ charged: false });
    expect(simulator.cancelAtPage(left.conversationId).url).toMatch(/\/fail$/);
    expect(await payments.inquire(left.conversationId)).toMatchObject({ state: 'pending', reason: 'declined' });
    simulator.closePage(over.conversationId);
    expect(() => simulator.payAtPage(over.conversationId)).toThrow('can no longer be paid');
    expect(simulator.ledger.total()).toBe('30.00');
  });

  describe('two accounts', () => {
    it('have a simulator each', async () => {
      process.env.PAYMENT_EU_BASE_URL = 'simulator:';
      const app = await contextOf([PaymentModule.forRoot(), PaymentModule.forRoot({ name: 'eu' })]);
      const ours = app.get(PaymentSimulator);
      const eu = app.get<PaymentSimulator>(paymentSimulatorToken('eu'));
      await app.get<PaymentService>(paymentToken('eu')).doPayment(sale('5.00'));
      expect([ours.ledger.total(), eu.ledger.total()]).toEqual(['0.00', '5.00']);
      await app.get(PaymentService).doPayment(sale('7.00'));
      expect([ours.ledger.total(), eu.ledger.total()]).toEqual(['7.00', '5.00']);
    });

    it('may have one real gateway and one simulator', async () => {
      const real = await startSimulator({ dialect: 'morpos' });
      const app = await contextOf([
        PaymentModule.forRoot({ ...simulatorOptions(real), publicUrl: 'https://shop.example' }),
        PaymentModule.forRoot({ name: 'eu', baseUrl: 'simulator:' }),
      ]);
      await app.get(PaymentService).doPayment(sale('5.00'));
      await app.get<PaymentService>(paymentToken('eu')).doPayment(sale('7.00'));
      expect(real.ledger.total()).toBe('5.00');
      expect(app.get<PaymentSimulator>(paymentSimulatorToken('eu')).ledger.total()).toBe('7.00');
      expect(app.get(PaymentSimulator).isRunning).toBe(false);
      await real.close();
    });
  });

  it('runs in several applications of one process, and starts again after each', async () => {
    const [one, other] = [await contextOf([PaymentModule.forRoot()]), await contextOf([PaymentModule.forRoot()])];
    await one.get(PaymentService).doPayment(sale('5.00'));
    expect(other.get(PaymentSimulator).ledger.charges).toEqual([]);
    await one.close();
    expect(await other.get(PaymentService).doPayment(sale())).toMatchObject({ state: 'succeeded' });
    const again = await contextOf([PaymentModule.forRoot()]);
    expect(await again.get(PaymentService).doPayment(sale())).toMatchObject({ state: 'succeeded' });
  });

  it('ends with its application, after the payments that run', async () => {
    const app = await contextOf([PaymentModule.forRoot()]);
    const [payments, simulator] = [app.get(PaymentService), app.get(PaymentSimulator)];
    const { url } = simulator;
    const slow = simulator.fail({ operation: 'DoPayment', at: 'before', kind: 'stall' });
    const paying = payments.doPayment(sale());
    await slow.played;
    const closed = app.close();
    slow.release();
    expect(await paying).toMatchObject({ state: 'succeeded', stored: true });
    await closed;
    await expect(fetch(url)).rejects.toThrow();
  });

  describe('at each start', () => {
    it('warns in one line for each account, with a card and a code that work', async () => {
      const log = new KeptLog();
      process.env.PAYMENT_EU_BASE_URL = 'simulator:';
      const app = await contextOf([PaymentModule.forRoot(), PaymentModule.forRoot({ name: 'eu' })], log);
      const lines = log.warnings.filter((line) => line.includes('simulator'));
      expect(lines).toHaveLength(2);
      for (const line of lines)
        expect(line).toMatch(/no money moves\. Test card \d{16}, \d{4} \(MMyy\), \d{3}; SMS code 123456\.$/);
      expect(lines.filter((line) => line.includes('account "eu"'))).toHaveLength(1);
      const [, cardNo = '', expDate = '', cvv = ''] = /(\d{16}), (\d{4}) \(MMyy\), (\d{3})/.exec(lines[0] ?? '') ?? [];
      const cardDetails = { cardNo, expDate, cvv };
      expect(await app.get(PaymentService).doPayment(sale('1.00', { cardDetails }))).toMatchObject({
        state: 'succeeded',
      });
    });

    it('does not mention it with a real gateway; the simulator can still be injected, and says what is wrong', async () => {
      const gateway: Simulator = await startSimulator({ dialect: 'morpos' });
      const log = new KeptLog();
      const options = { ...simulatorOptions(gateway), publicUrl: 'https://shop.example' };
      const app = await contextOf([PaymentModule.forRoot(options)], log);
      expect(log.warnings.filter((line) => line.includes('simulator'))).toEqual([]);
      const simulator = app.get(PaymentSimulator);
      expect(simulator.isRunning).toBe(false);
      for (const use of [
        () => simulator.ledger,
        () => simulator.url,
        () => simulator.testCards,
        () => simulator.smsCode,
        () => simulator.fail({ operation: 'any', kind: 'reset' }),
        () => simulator.approve('ABC'),
        () => simulator.answer('ABC', { code: 'cancel' }),
        () => simulator.payAtPage('ABC'),
        () => simulator.cancelAtPage('ABC'),
        () => simulator.closePage('ABC'),
        () => simulator.reset(),
      ]) {
        expect(use).toThrow(PaymentConfigurationError);
        expect(use).toThrow('baseUrl (PAYMENT_BASE_URL): is not simulator:, so there is no PaymentSimulator to use');
      }
      await gateway.close();
    });

    it('is refused in production', async () => {
      process.env.NODE_ENV = 'production';
      await expect(contextOf([PaymentModule.forRoot()])).rejects.toThrow(PaymentConfigurationError);
      await expect(contextOf([PaymentModule.forRoot()])).rejects.toThrow(
        /baseUrl \(PAYMENT_BASE_URL\): cannot be simulator: while NODE_ENV is neither development nor test/,
      );
    });
  });

  it('shows no card and no credential when it is printed', async () => {
    const app = await contextOf([PaymentModule.forRoot()]);
    // What is printed reaches Jest's own objects, in which names of other tests hold the usual card.
    const cardDetails = { cardNo: '5269737320050521', expDate: '1230', cvv: '000' };
    await app.get(PaymentService).init3d(sale('149.90', { cardDetails }));
    const text = inspect(app.get(PaymentSimulator), { depth: null, showHidden: true, getters: false });
    for (const secret of [cardDetails.cardNo, 'embedded-simulator-key', 'ZW1iZWRkZWQtc2ltdWxhdG9yLXNlY3JldA==']) {
      expect(text).not.toContain(secret);
    }
    expect(JSON.stringify(app.get(PaymentSimulator))).toBe('{"account":"default"}');
  });
});

async function contextOf(
  imports: ModuleMetadata['imports'],
  logger: LoggerService | false = false,
): Promise<INestApplicationContext> {
  @Module({ imports })
  class ShopModule {}
  const context = await NestFactory.createApplicationContext(ShopModule, { logger, abortOnError: false });
  open.push(context);
  return context;
}

/** The buyer's browser at the bank: opens its page, types the SMS code, and is sent back. */
async function throughTheBank(html: string): Promise<Response> {
  const bank = /action="([^"]+)"/.exec(html)?.[1] ?? '';
  const form = (fields: Record<string, string>): RequestInit => ({ method: 'POST', body: new URLSearchParams(fields) });
  const page = await (await fetch(bank, form({ action: 'confirm', code: '123456' }))).text();
  const back = /action="([^"]+)"/.exec(page)?.[1] ?? '';
  const fields = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  const posted = fields.map(([, name = '', value = '']) => [name, value.replaceAll('&#39;', "'")]);
  return fetch(back, { ...form(Object.fromEntries(posted) as Record<string, string>), redirect: 'manual' });
}

async function stateAfter(app: INestApplicationContext, { request }: BankCallback): Promise<string | undefined> {
  const answer = await fetch(request.url, { ...request, redirect: 'manual' });
  expect(answer.status).toBe(303);
  const id = new URL(answer.headers.get('location') ?? '').searchParams.get('conversationId') ?? '';
  return (await app.get(PaymentService).find(id))?.state;
}
