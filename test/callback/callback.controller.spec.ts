import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { RouterModule } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { MemoryPaymentStore, PaymentClock, PaymentModule } from 'nestjs-card-payment';
import { type BankCallback, type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { TestClock } from 'nestjs-card-payment/testing';
import { createCallbackController } from '../../lib/callback/callback.controller.js';
import { type Merchant, type MerchantSetup, PLATFORMS, sale, startMerchant } from '../e2e/merchant.js';

/** The one that Nest's adapter for Fastify brings along. */
const formbody = createRequire(createRequire(import.meta.url).resolve('@nestjs/platform-fastify'))(
  '@fastify/formbody',
) as Parameters<NestFastifyApplication['register']>[0];

/** Nothing is loaded or run, and no style but the page's own. */
function pagePolicy(page: string): string {
  const [, style = ''] = /<style>(.*?)<\/style>/s.exec(page) ?? [];
  const hash = createHash('sha256').update(style).digest('base64');
  return `default-src 'none'; style-src 'sha256-${hash}'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'`;
}

describe.each(PLATFORMS)('the callback controller on %s', (platform) => {
  const clock = new TestClock();
  let simulator: Simulator;
  let shop: Merchant;

  beforeAll(async () => {
    simulator = await startSimulator({ dialect: 'morpos', clock: () => clock.now() });
  });
  afterAll(() => simulator.close());

  async function open(setup: MerchantSetup = {}): Promise<void> {
    shop = await startMerchant(platform, simulator, {
      override: (builder) => builder.overrideProvider(PaymentClock).useValue(clock),
      ...setup,
    });
  }

  async function atTheBank(amount?: string): Promise<BankCallback> {
    const { conversationId } = await shop.payments.init3d(sale(amount));
    return simulator.approve(conversationId);
  }

  function bring({ request }: BankCallback, over: RequestInit & { url?: string } = {}): Promise<Response> {
    return fetch(over.url ?? request.url, { ...request, redirect: 'manual', ...over });
  }

  /** Where the buyer is sent. */
  async function wayOf(answer: Response): Promise<string> {
    await answer.arrayBuffer();
    return `${answer.status} ${new URL(answer.headers.get('location') ?? 'none:none').pathname}`;
  }

  describe('with pages of the merchant', () => {
    const store = new MemoryPaymentStore();

    beforeAll(() => open({ options: { store } }));
    afterAll(() => shop.app.close());

    it.each(['return', 'fail'])('completes the payment at the address for %s: the gateway decides', async (last) => {
      const [paid, declined] = [await atTheBank(), await atTheBank('10.51')];
      for (const [callback, way] of [
        [paid, '303 /paid'],
        [declined, '303 /failed'],
      ] as const) {
        const { conversationId } = callback.fields;
        const answer = await bring(callback, { url: callback.request.url.replace(/\w+$/, last) });
        expect(answer.headers.get('location')).toContain(`?conversationId=${conversationId}`);
        expect(await wayOf(answer)).toBe(way);
        expect(simulator.ledger.calls('Auth3d', conversationId)).toBe(1);
      }
    });

    it('takes the fields from the query, too', async () => {
      const callback = await atTheBank();
      const url = `${callback.url}?${new URLSearchParams(callback.fields).toString()}`;
      expect(await wayOf(await bring(callback, { url, method: 'GET', body: undefined }))).toBe('303 /paid');
    });

    it('sends a buyer whose outcome is not known to the page for that', async () => {
      expect(await wayOf(await bring(await atTheBank('10.96')))).toBe('303 /pending');
    });

    it('is never kept, and passes its address on to nobody', async () => {
      const { headers } = await bring(await atTheBank());
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    });

    it('answers a browser that only looks ahead with nothing, and does nothing', async () => {
      const callback = await atTheBank();
      const { conversationId = '' } = callback.fields;
      const answer = await bring(callback, { headers: { ...callback.request.headers, 'sec-purpose': 'prefetch' } });
      expect([answer.status, await answer.text()]).toEqual([204, '']);
      expect(await shop.payments.find(conversationId)).toMatchObject({ state: 'awaiting' });
    });

    it('refuses with a page', async () => {
      const callback = await atTheBank();
      const unknown = await bring(callback, { url: `${shop.url}/payments/${'A'.repeat(43)}/return` });
      const headers = { 'content-type': 'application/json' };
      const wrong = await bring(callback, { body: '{"Code":["B0000"]}', headers });
      expect([unknown.status, wrong.status]).toEqual([404, 400]);
      for (const answer of [unknown, wrong]) {
        expect(answer.headers.get('content-type')).toContain('text/html');
        const page = await answer.text();
        expect(answer.headers.get('content-security-policy')).toBe(pagePolicy(page));
        expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
        expect(page).toContain('Bu sayfa gösterilemiyor');
      }
      const english = await bring(callback, {
        url: `${shop.url}/payments/${'A'.repeat(43)}/return`,
        headers: { ...callback.request.headers, 'accept-language': 'en-US,en;q=0.9,tr;q=0.1' },
      });
      expect(await english.text()).toContain('This page cannot be shown');
      expect(simulator.ledger.calls('Auth3d', callback.fields.conversationId)).toBe(0);
    });

    it('asks the buyer to come again while the store is down, and completes the payment then', async () => {
      const callback = await atTheBank();
      const findByTokenHash = store.findByTokenHash.bind(store);
      store.findByTokenHash = () => Promise.reject(new Error('password=secret'));
      const answer = await bring(callback);
      store.findByTokenHash = findByTokenHash;
      expect(answer.status).toBe(503);
      expect(await answer.text()).not.toContain('secret');
      expect(await wayOf(await bring(callback))).toBe('303 /paid');
    });
  });

  describe('otherwise', () => {
    afterEach(() => shop.app.close());

    it('answers below the prefix of a RouterModule, where callbackUrl says so', async () => {
      await open({
        options: { callbackUrl: 'http://localhost/shop/payments' },
        metadata: { imports: [RouterModule.register([{ path: 'shop', module: PaymentModule }])] },
      });
      const callback = await atTheBank();
      expect(callback.url).toMatch(/^http:\/\/localhost\/shop\/payments\/[\w-]{43}\/return$/);
      const url = callback.url.replace('http://localhost', shop.url);
      expect(await wayOf(await bring(callback, { url }))).toBe('303 /paid');
      expect((await bring(callback, { url: url.replace('/shop', '') })).status).toBe(404);
    });

    it('shows its own page in the language that the browser prefers', async () => {
      await open({ options: { successUrl: undefined, language: 'tr' } });
      const texts = ['en-GB,en;q=0.9', 'tr,en;q=0.9', 'de'].map(async (accepted) => {
        const callback = await atTheBank();
        const headers = { ...callback.request.headers, 'accept-language': accepted };
        return (await bring(callback, { headers })).text();
      });
      expect(await Promise.all(texts)).toEqual([
        expect.stringContaining('Payment received'),
        expect.stringContaining('Ödeme alındı'),
        expect.stringContaining('Ödeme alındı'),
      ]);
    });

    it('ends a session when the option sessionTtlMs says', async () => {
      await open({ options: { sessionTtlMs: 90_000, background: false } });
      const [soon, late] = [await atTheBank(), await atTheBank()];
      await clock.advance(89_999);
      expect(await wayOf(await bring(soon))).toBe('303 /paid');
      await clock.advance(1);
      expect(await wayOf(await bring(late))).toBe('303 /failed');
      expect(simulator.ledger.calls('Auth3d', late.fields.conversationId)).toBe(0);
      expect(await shop.payments.find(late.fields.conversationId!)).toMatchObject({ state: 'expired' });
    });

    it('reads the form without a body parser, or with the one of the documentation', async () => {
      await open({
        application: { bodyParser: false },
        configure: (app) => {
          if (platform === 'fastify') void (app as NestFastifyApplication).register(formbody);
        },
      });
      expect(await wayOf(await bring(await atTheBank()))).toBe('303 /paid');
    });
  });
});

it('the callback controller is a class of its own for each account, with the decorators it was given', () => {
  const decorated: unknown[] = [];
  const decorate = (controller: unknown): void => void decorated.push(controller);
  const [one, other] = [createCallbackController('one', [decorate]), createCallbackController('other', [decorate])];
  expect(one).not.toBe(other);
  expect(decorated).toEqual([one, other]);
});
