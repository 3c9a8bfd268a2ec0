import type { AddressInfo, Server } from 'node:net';
import { inspect } from 'node:util';
import { type INestApplication, type INestApplicationContext, Injectable, type ModuleMetadata } from '@nestjs/common';
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
import { type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { TestClock } from 'nestjs-card-payment/testing';
import { loggerInto } from '../operations/log-lines.js';
import { adapterOf, bring, PLATFORMS, type Platform, sale, simulatorOptions } from './merchant.js';

@Injectable()
class Orders {
  readonly paid: (string | null)[] = [];

  constructor(readonly payments: PaymentService) {}

  @OnPayment('succeeded')
  pay({ payment }: PaymentEvent): void {
    this.paid.push(payment.reference);
  }
}

interface Embedded {
  readonly app: INestApplicationContext;
  readonly payments: PaymentService;
  readonly simulator: PaymentSimulator;
}

// What it says when it starts, and where it is refused, is in test/e2e/start-up.spec.ts, too.
describe('embedded simulator', () => {
  const open: INestApplicationContext[] = [];
  const env = { ...process.env };
  let real: Simulator;

  beforeAll(async () => {
    real = await startSimulator({ dialect: 'morpos' });
  });
  beforeEach(() => {
    process.env.PAYMENT_BASE_URL = 'simulator:';
    process.env.PAYMENT_SUCCESS_URL = 'https://shop.example/paid';
    real.reset();
  });
  afterEach(async () => {
    for (const app of open.splice(0)) await app.close();
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
  });
  afterAll(() => real.close());

  /** A shop whose only setting is the simulator, unless it is given others. */
  function shop(imports: ModuleMetadata['imports'] = [PaymentModule.forRoot()], log: string[] = []) {
    return Test.createTestingModule({ imports, providers: [Orders] }).setLogger(loggerInto(log));
  }

  /** The same with HTTP, before it starts and listens. */
  async function shopOn(platform: Platform): Promise<INestApplication> {
    const app = (await shop().compile()).createNestApplication(adapterOf(platform));
    open.push(app);
    return app;
  }

  /** An application without HTTP. */
  async function start(builder = shop()): Promise<Embedded> {
    return embedded(await (await builder.compile()).init());
  }

  function embedded(app: INestApplicationContext): Embedded {
    open.push(app);
    return { app, payments: app.get(PaymentService), simulator: app.get(PaymentSimulator) };
  }

  const realOptions = () => ({ ...simulatorOptions(real), publicUrl: 'https://shop.example' });

  describe.each(PLATFORMS)('a shop with nothing configured, on %s', (platform) => {
    it('takes direct and 3D payments, and its handlers are called', async () => {
      const app = await shopOn(platform);
      await app.listen(0);
      const { payments, simulator } = embedded(app);
      const [card] = simulator.testCards;
      const direct = await payments.doPayment(sale('10.00', { reference: 'direct', cardDetails: card }));
      expect(direct.state).toBe('succeeded');
      const { html, conversationId } = await payments.init3d(sale('20.00', { reference: '3d', cardDetails: card }));
      const answer = await bring(simulator.answer(html, { code: simulator.smsCode }));
      expect(answer.headers.get('location')).toBe(`https://shop.example/paid?conversationId=${conversationId}`);
      expect(await payments.find(conversationId)).toMatchObject({ state: 'succeeded' });
      expect([simulator.ledger.total(), simulator.ledger.violations]).toEqual(['30.00', []]);
      await payments.reconcile();
      expect(app.get(Orders).paid.sort()).toEqual(['3d', 'direct']);
    });

    it.each([
      ['on no host', undefined, 'http://localhost:PORT'],
      ['on one address', '127.0.0.2', 'http://127.0.0.2:PORT'],
      ['at an address that it is given', '127.0.0.1', 'https://tunnel.example'],
    ])('is where the bank sends the buyer, listening %s, below its prefix', async (_what, host, expected) => {
      if (expected.startsWith('https')) process.env.PAYMENT_PUBLIC_URL = expected;
      const app = await shopOn(platform);
      app.setGlobalPrefix('api');
      await (host === undefined ? app.listen(0) : app.listen(0, host));
      const { payments, simulator } = embedded(app);
      const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
      const { conversationId } = await payments.init3d(sale());
      const { url, request } = simulator.approve(conversationId);
      const site = expected.replace('PORT', String(port));
      expect(url.replace(/[\w-]{43}/, 'TOKEN')).toBe(`${site}/api/payments/TOKEN/return`);
      expect(
        (await bring({ request: { ...request, url: at(url, `http://${host ?? 'localhost'}:${port}`) } })).status,
      ).toBe(303);
      expect(await payments.find(conversationId)).toMatchObject({ state: 'succeeded' });
    });

    it.each([
      ['0.0.0.0', undefined, false],
      ['127.0.0.1', undefined, true],
      ['0.0.0.0', 'development', true],
    ])('that listens on %s with NODE_ENV %j: %s', async (host, environment, isListening) => {
      delete process.env.NODE_ENV;
      if (environment !== undefined) process.env.NODE_ENV = environment;
      process.env.PAYMENT_PUBLIC_URL = 'http://localhost:3000';
      const app = await shopOn(platform);
      const failure: unknown = await app.listen(0, host).catch((error: unknown) => error);
      await new Promise(process.nextTick);
      expect((app.getHttpServer() as Server).listening).toBe(isListening);
      if (isListening) return;
      expect(failure).toBeInstanceOf(PaymentConfigurationError);
      expect(String(failure)).toContain(
        `while NODE_ENV is not set and the server listens on ${host}, not on 127.0.0.1`,
      );
    });
  });

  it('replaces a real gateway, whose settings may stay', async () => {
    const options = { ...simulatorOptions(real), baseUrl: 'simulator:', publicUrl: 'http://localhost:3000' };
    const { payments, simulator } = await start(shop([PaymentModule.forRoot({ ...options, verifySign: true })]));
    expect(await payments.doPayment(sale())).toMatchObject({ state: 'succeeded' });
    expect([simulator.ledger.charges.length, real.requests]).toEqual([1, []]);
  });

  it('uses the clock of the application', async () => {
    const clock = new TestClock(new Date('2031-06-01T12:00:00Z'));
    const { payments, simulator } = await start(shop().overrideProvider(PaymentClock).useValue(clock));
    expect(simulator.testCards.map(({ expDate }) => expDate)).toEqual(['1148', '1236']);
    const { conversationId } = await payments.init3d(sale());
    await clock.advance(3_600_001);
    await payments.reconcile();
    expect(await payments.find(conversationId)).toMatchObject({ state: 'expired' });
    expect(await payments.doPayment(sale())).toMatchObject({ state: 'succeeded' });
  });

  it("plays buyers at the gateway's own page", async () => {
    const { payments, simulator } = await start();
    const page = () => payments.startHosted({ transactionDetails: { amount: '30.00', currencyCode: 949 } });
    const [paid, left, over] = [await page(), await page(), await page()];
    expect(simulator.payAtPage(paid.redirectUrl!)).toMatchObject({ charged: true, copies: 1 });
    expect(await payments.inquire(paid.conversationId)).toMatchObject({ state: 'succeeded', maskedCardNumber: null });
    expect(simulator.cancelAtPage(left.conversationId).url).toMatch(/\/fail$/);
    simulator.closePage(over.conversationId);
    expect(() => simulator.payAtPage(over.conversationId)).toThrow('can no longer be paid');
    expect(simulator.ledger.total()).toBe('30.00');
  });

  it('runs once for each account, and warns in one line each, with a card and a code that work', async () => {
    const log: string[] = [];
    process.env.PAYMENT_EU_BASE_URL = 'simulator:';
    const both = [PaymentModule.forRoot(), PaymentModule.forRoot({ name: 'eu' })];
    const { app, payments, simulator } = await start(shop(both, log));
    const { ledger } = app.get<PaymentSimulator>(paymentSimulatorToken('eu'));
    await app.get<PaymentService>(paymentToken('eu')).doPayment(sale('5.00'));
    expect([simulator.ledger.total(), ledger.total()]).toEqual(['0.00', '5.00']);

    const lines = log.filter((line) => line.includes('embedded simulator')).sort();
    const end = 'embedded simulator: no money moves. Test card CARD; SMS code 123456.';
    const TEST_CARD = /(\d{16}), (\d{4}) \(MMyy\), (\d{3})/;
    expect(lines.map((line) => line.replace(TEST_CARD, 'CARD'))).toEqual([
      `warn Payments go to the ${end}`,
      `warn Payments of the account "eu" go to the ${end}`,
    ]);
    const [, cardNo = '', expDate = '', cvv = ''] = TEST_CARD.exec(lines[0]!) ?? [];
    await payments.doPayment(sale('7.00', { cardDetails: { cardNo, expDate, cvv } }));
    expect([simulator.ledger.total(), ledger.total()]).toEqual(['7.00', '5.00']);
  });

  it('beside a real gateway: can be injected, is not mentioned, and says what is wrong when it is used', async () => {
    const log: string[] = [];
    const both = [PaymentModule.forRoot(realOptions()), PaymentModule.forRoot({ name: 'eu', baseUrl: 'simulator:' })];
    const { app, payments, simulator } = await start(shop(both, log));
    await payments.doPayment(sale('5.00'));
    await app.get<PaymentService>(paymentToken('eu')).doPayment(sale('7.00'));
    expect(real.ledger.total()).toBe('5.00');
    expect(app.get<PaymentSimulator>(paymentSimulatorToken('eu')).ledger.total()).toBe('7.00');
    expect(log.filter((line) => line.includes('embedded'))).toEqual([expect.stringContaining('account "eu"')]);
    expect(simulator.isRunning).toBe(false);
    const use = () => simulator.approve('ABC');
    expect(use).toThrow(PaymentConfigurationError);
    expect(use).toThrow('baseUrl (PAYMENT_BASE_URL): is not simulator:, so there is no PaymentSimulator to use');
  });

  it('shows no card and no credential when it is printed', async () => {
    const { payments, simulator } = await start();
    // What is printed reaches Jest's own objects, in which names of other tests hold the usual card.
    const cardDetails = { cardNo: '5269737320050521', expDate: '1230', cvv: '000' };
    await payments.init3d(sale('149.90', { cardDetails }));
    const text = inspect(simulator, { depth: null, showHidden: true, getters: false });
    for (const secret of [cardDetails.cardNo, 'embedded-simulator-key', 'ZW1iZWRkZWQtc2ltdWxhdG9yLXNlY3JldA==']) {
      expect(text).not.toContain(secret);
    }
    expect(JSON.stringify(simulator)).toBe('{"account":"default"}');
  });
});

/** The path of a URL at another site. */
function at(url: string, site: string): string {
  return new URL(new URL(url).pathname, site).href;
}
