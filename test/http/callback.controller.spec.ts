import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { RouterModule } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import express from 'express';
import { MemoryPaymentStore, PaymentModule } from 'nestjs-card-payment';
import { type BankCallback, type Simulator, startSimulator } from 'nestjs-card-payment/simulator';
import { TestClock } from 'nestjs-card-payment/testing';
import { createCallbackController } from '../../lib/http/callback.controller.js';
import { type Merchant, type MerchantSetup, PLATFORMS, sale, startMerchant } from '../e2e/merchant.js';

/** The version that Nest's adapter for Fastify depends on. */
const formbody = createRequire(createRequire(import.meta.url).resolve('@nestjs/platform-fastify'))(
  '@fastify/formbody',
) as Parameters<NestFastifyApplication['register']>[0];

/** The policy that allows only the style of the page itself. */
function pagePolicy(page: string): string {
  const [, style = ''] = /<style>(.*?)<\/style>/s.exec(page) ?? [];
  const hash = createHash('sha256').update(style).digest('base64');
  return `default-src 'none'; style-src 'sha256-${hash}'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'`;
}

// What is sent to it, true and forged, is in test/e2e/payments.spec.ts and test/e2e/callback-attacks.spec.ts.
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
      clock,
      ...setup,
    });
  }

  async function startPayment(): Promise<BankCallback> {
    const { conversationId } = await shop.payments.init3d(sale());
    return simulator.approve(conversationId);
  }

  function send({ request }: BankCallback, over: RequestInit & { url?: string } = {}): Promise<Response> {
    return fetch(over.url ?? request.url, { ...request, redirect: 'manual', ...over });
  }

  /** The status, and the path to which the buyer is redirected. */
  async function redirectOf(answer: Response): Promise<string> {
    await answer.arrayBuffer();
    return `${answer.status} ${new URL(answer.headers.get('location') ?? 'none:none').pathname}`;
  }

  describe('with the pages of the merchant', () => {
    const store = new MemoryPaymentStore();

    beforeAll(() => open({ options: { store } }));
    afterAll(() => shop.app.close());

    it('answers an invalid callback with a page', async () => {
      const callback = await startPayment();
      const unknown = await send(callback, { url: `${shop.url}/payments/${'A'.repeat(43)}/return` });
      const headers = { 'content-type': 'application/json' };
      const wrong = await send(callback, { body: '{"Code":["B0000"]}', headers });
      expect([unknown.status, wrong.status]).toEqual([404, 400]);
      for (const answer of [unknown, wrong]) {
        expect(answer.headers.get('content-type')).toContain('text/html');
        const page = await answer.text();
        expect(answer.headers.get('content-security-policy')).toBe(pagePolicy(page));
        expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
        expect(page).toContain('Bu sayfa gösterilemiyor');
      }
      const english = await send(callback, {
        url: `${shop.url}/payments/${'A'.repeat(43)}/return`,
        headers: { ...callback.request.headers, 'accept-language': 'en-US,en;q=0.9,tr;q=0.1' },
      });
      expect(await english.text()).toContain('This page cannot be shown');
      expect(simulator.ledger.calls('Auth3d', callback.fields.conversationId)).toBe(0);
    });

    it('asks the buyer to reload while the store is down, and completes the payment on the reload', async () => {
      const callback = await startPayment();
      const findByTokenHash = store.findByTokenHash.bind(store);
      store.findByTokenHash = () => Promise.reject(new Error('password=secret'));
      const answer = await send(callback);
      store.findByTokenHash = findByTokenHash;
      expect(answer.status).toBe(503);
      expect(await answer.text()).not.toContain('secret');
      expect(await redirectOf(await send(callback))).toBe('303 /paid');
    });
  });

  describe('with other options', () => {
    afterEach(() => shop.app.close());

    it('answers below the prefix of a RouterModule if callbackUrl has it', async () => {
      await open({
        options: { callbackUrl: 'http://localhost/shop/payments' },
        metadata: { imports: [RouterModule.register([{ path: 'shop', module: PaymentModule }])] },
      });
      const callback = await startPayment();
      expect(callback.url).toMatch(/^http:\/\/localhost\/shop\/payments\/[\w-]{43}\/return$/);
      const url = callback.url.replace('http://localhost', shop.url);
      expect(await redirectOf(await send(callback, { url }))).toBe('303 /paid');
      expect((await send(callback, { url: url.replace('/shop', '') })).status).toBe(404);
    });

    it('shows its built-in page in the language that the browser prefers', async () => {
      await open({ options: { successUrl: undefined, language: 'tr' } });
      const texts = ['en-GB,en;q=0.9', 'tr,en;q=0.9', 'de'].map(async (accepted) => {
        const callback = await startPayment();
        const headers = { ...callback.request.headers, 'accept-language': accepted };
        const answer = await send(callback, { headers });
        expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
        return answer.text();
      });
      expect(await Promise.all(texts)).toEqual([
        expect.stringContaining('Payment received'),
        expect.stringContaining('Ödeme alındı'),
        expect.stringContaining('Ödeme alındı'),
      ]);
    });

    it('expires a session after sessionTtlMs', async () => {
      await open({ options: { sessionTtlMs: 90_000, background: false } });
      const [soon, late] = [await startPayment(), await startPayment()];
      await clock.advance(89_999);
      expect(await redirectOf(await send(soon))).toBe('303 /paid');
      await clock.advance(1);
      expect(await redirectOf(await send(late))).toBe('303 /failed');
      expect(simulator.ledger.calls('Auth3d', late.fields.conversationId)).toBe(0);
      expect(await shop.payments.find(late.fields.conversationId!)).toMatchObject({ state: 'expired' });
    });

    it('reads the form by a parser of the host’s own, as in the documentation', async () => {
      await open({
        application: { bodyParser: false },
        configure: (app) => {
          if (platform === 'express') app.use(express.urlencoded());
          else void (app as NestFastifyApplication).register(formbody);
        },
      });
      expect(await redirectOf(await send(await startPayment()))).toBe('303 /paid');
    });
  });
});

it('the callback controller is a separate class for each account, with the given decorators', () => {
  const decorated: unknown[] = [];
  const decorate = (controller: unknown): void => void decorated.push(controller);
  const [one, other] = [createCallbackController('one', [decorate]), createCallbackController('other', [decorate])];
  expect(one).not.toBe(other);
  expect(decorated).toEqual([one, other]);
});
