import { RequestMethod } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost } from '@nestjs/core';
import { createServer, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localUrlOf, ReturnUrlMaker, type ReturnUrls } from '../../lib/operations/return-urls.js';
import { PaymentValidationError } from '../../lib/errors/payment-errors.js';
import type { PaymentSettings } from '../../lib/options/payment-settings.js';
import { selfSigned } from '../rigs/certificates.js';

const TOKEN = 'T'.repeat(43);

interface Host {
  /** Of the callback's controller; null if that is off. */
  readonly path?: string | null;
  readonly prefix?: string;
  /** What is left out of the prefix. */
  readonly exclude?: RegExp;
}

function urls(settings: Partial<PaymentSettings> = {}, { path = 'payments', prefix = '', exclude }: Host = {}) {
  const config = new ApplicationConfig();
  config.setGlobalPrefix(prefix);
  if (exclude)
    config.setGlobalPrefixOptions({ exclude: [{ path: '', requestMethod: RequestMethod.ALL, pathRegex: exclude }] });
  const none = { publicUrl: 'https://shop.example', callbackUrl: null, returnUrl: null, failUrl: null };
  const all = { ...none, ...settings } as PaymentSettings;
  return new ReturnUrlMaker(all, { path, waitMs: 1 }, config, new HttpAdapterHost());
}

describe('the return URLs', () => {
  const SHOP = 'https://shop.example';
  const OWN = { returnUrl: 'https://own.example/{token}/ok?t={token}', failUrl: 'https://own.example/no' };
  const GIVEN = { returnUrl: `${SHOP}/ok`, failUrl: `${SHOP}/{token}` };
  const at = (base: string): ReturnUrls => ({ returnUrl: `${base}/return`, failUrl: `${base}/fail` });

  it.each<[string, Partial<PaymentSettings>, Host, given: Partial<ReturnUrls>, made: ReturnUrls]>([
    ['point to the built-in controller', {}, {}, {}, at(`${SHOP}/payments/${TOKEN}`)],
    ['include the global prefix', {}, { prefix: 'api' }, {}, at(`${SHOP}/api/payments/${TOKEN}`)],
    ['include a prefix with slashes', {}, { prefix: '/api/v1/' }, {}, at(`${SHOP}/api/v1/payments/${TOKEN}`)],
    ['include no prefix that is a slash', {}, { prefix: '/' }, {}, at(`${SHOP}/payments/${TOKEN}`)],
    [
      'include the path of the public URL',
      { publicUrl: `${SHOP}/eu` },
      { path: 'pay/eu', prefix: 'api' },
      {},
      at(`${SHOP}/eu/api/pay/eu/${TOKEN}`),
    ],
    ['point to a controller without a path', {}, { path: '' }, {}, at(`${SHOP}/${TOKEN}`)],
    [
      'start with callbackUrl, without the global prefix',
      { callbackUrl: 'https://pay.example/cb' },
      { prefix: 'api' },
      {},
      at(`https://pay.example/cb/${TOKEN}`),
    ],
    [
      'have no prefix if the host excludes the callback from it',
      {},
      { prefix: 'api', exclude: /^\/payments\/[^/]+\/return$/ },
      {},
      at(`${SHOP}/payments/${TOKEN}`),
    ],
    [
      'have the prefix if the host excludes another path',
      {},
      { path: 'pay', prefix: 'api', exclude: /^\/payments\/[^/]+\/return$/ },
      {},
      at(`${SHOP}/api/pay/${TOKEN}`),
    ],
    [
      'point to localhost if nothing is set and no server runs',
      { publicUrl: null },
      {},
      {},
      at(`http://localhost/payments/${TOKEN}`),
    ],
    [
      'are the configured ones, with the token filled in',
      OWN,
      {},
      {},
      { returnUrl: `https://own.example/${TOKEN}/ok?t=${TOKEN}`, failUrl: 'https://own.example/no' },
    ],
    [
      'are those given with the payment, each before the configured one',
      OWN,
      {},
      { failUrl: GIVEN.failUrl },
      { returnUrl: `https://own.example/${TOKEN}/ok?t=${TOKEN}`, failUrl: `${SHOP}/${TOKEN}` },
    ],
    ['are those given, before both that are configured', OWN, {}, GIVEN, { ...GIVEN, failUrl: `${SHOP}/${TOKEN}` }],
    [
      'are those given while the controller is off',
      {},
      { path: null },
      GIVEN,
      { ...GIVEN, failUrl: `${SHOP}/${TOKEN}` },
    ],
  ])('%s', (_what, settings, host, given, made) => {
    expect(urls(settings, host).make(given, TOKEN)).toEqual(made);
    // A direct payment has a placeholder for the token.
    const [returnUrl, failUrl] = [made.returnUrl, made.failUrl].map((url) => url.replaceAll(TOKEN, 'direct'));
    expect(urls(settings, host).make(given)).toEqual({ returnUrl, failUrl });
  });

  it('must be given when the controller is off', () => {
    const off = urls({}, { path: null });
    const message = expect.stringContaining('failUrl') as string;
    const missing = { path: 'failUrl', field: 'failUrl', rule: 'isDefined', message };
    expect(refusalOf(off, { returnUrl: SHOP })?.issues).toEqual([missing]);
    expect(refusalOf(off, {})).toMatchObject({ issues: [{ path: 'returnUrl' }, { path: 'failUrl' }] });
    expect(() => urls({ language: 'tr' }, { path: null }).make({})).toThrow(/because the callback controller is off/);
  });
});

/** @returns null if the URLs are made */
function refusalOf(maker: ReturnUrlMaker, given: Partial<ReturnUrls>): PaymentValidationError | null {
  try {
    maker.make(given);
    return null;
  } catch (error) {
    expect(error).toBeInstanceOf(PaymentValidationError);
    return error as PaymentValidationError;
  }
}

describe('the return URL in the start-up report', () => {
  const CALLBACK = { callbackUrl: 'https://pay.example/cb' };

  it.each<[string, Partial<PaymentSettings>, path: string | null, shown: string | null]>([
    [
      'is the configured one',
      { returnUrl: 'https://own.example/{token}?s=ecret#s' },
      'payments',
      'https://own.example/{token}',
    ],
    ['is left out if the controller is off, since each payment gives its own', {}, null, null],
    ['points to the controller', {}, 'payments', 'https://shop.example/api/payments/{token}/return'],
    ['starts with callbackUrl', CALLBACK, 'payments', 'https://pay.example/cb/{token}/return'],
    [
      'starts with callbackUrl even without a public URL',
      { ...CALLBACK, publicUrl: null },
      'payments',
      'https://pay.example/cb/{token}/return',
    ],
    ['is only a path until the server listens', { publicUrl: null }, 'payments', '/api/payments/{token}/return'],
  ])('%s', (_what, settings, path, shown) => {
    expect(urls(settings, { path, prefix: 'api' }).shown()).toBe(shown);
  });
});

describe('a URL of a call', () => {
  const OWN = { returnUrl: 'https://www.shop.example/back', failUrl: null };
  const ELSEWHERE = 'https://elsewhere.example/';

  it.each<[string, Partial<PaymentSettings>, returnUrl: string | undefined]>([
    ['to the public URL', OWN, 'https://shop.example/{token}'],
    ['to the origin of another setting', OWN, 'https://www.shop.example/x'],
    ['nowhere', OWN, undefined],
    ['anywhere if publicUrl is this machine', { publicUrl: 'http://localhost:3000' }, ELSEWHERE],
    ['anywhere if the server is on this machine, as with the simulator', { publicUrl: null }, ELSEWHERE],
  ])('may lead %s', (_where, settings, returnUrl) => {
    expect(refusalOf(urls(settings), { returnUrl })).toBeNull();
  });

  it('is refused if no address of the shop is configured, by the variable that sets it', () => {
    const both = { returnUrl: 'https://a.example', failUrl: 'https://b.example' };
    const message = expect.stringContaining('PAYMENT_STORE2_PUBLIC_URL') as string;
    expect(refusalOf(urls({ publicUrl: null, account: 'store2' }, { path: null }), both)).toMatchObject({
      issues: [{ path: 'returnUrl' }, { path: 'failUrl', message }],
    });
  });

  it.each([
    'https://evil.example/',
    'https://shop.example.evil.example/',
    'https://shop.example@evil.example/',
    'https://shop.example\\@evil.example/',
    'https://evil:b@shop.example/',
    'https://evil@shop.example/',
    'https://:evil@shop.example/',
    'https://shop.example:8443/',
    'http://shop.example/',
  ])('is refused if it leads elsewhere: %s', (failUrl) => {
    const refusal = refusalOf(urls(OWN), { failUrl });
    expect(refusal).toMatchObject({ issues: [{ path: 'failUrl', rule: 'ownUrl' }] });
    expect(refusal?.message).not.toContain('evil');
  });
});

describe('the local URL', () => {
  async function urlWhileListening(server: Server, address: object): Promise<[url: string, port: number]> {
    await new Promise<void>((resolve) => server.listen(address, resolve));
    try {
      return [localUrlOf(server), (server.address() as AddressInfo).port];
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  }

  it.each<[host: string | undefined, shown: string]>([
    ['0.0.0.0', 'localhost'],
    ['127.0.0.1', 'localhost'],
    ['localhost', 'localhost'],
    [undefined, 'localhost'],
    ['127.0.0.2', '127.0.0.2'],
  ])('of a server on %s has the host %s', async (host, shown) => {
    const [url, port] = await urlWhileListening(createServer(), { port: 0, host });
    expect(url).toBe(`http://${shown}:${port}`);
  });

  it.each([
    ['fd00::7', 'IPv6', 'http://[fd00::7]:81'],
    ['192.0.2.7', 'IPv4', 'http://192.0.2.7:81'],
    ['::', 'IPv6', 'http://localhost:81'],
    ['::1', 'IPv6', 'http://localhost:81'],
  ])('of a server on %s (%s) is %s', (address, family, url) => {
    const server = Object.assign(createServer(), { address: () => ({ address, family, port: 81 }) });
    expect(localUrlOf(server)).toBe(url);
  });

  it('is https for a server with TLS', async () => {
    const server = createHttpsServer(selfSigned('localhost'));
    const [url, port] = await urlWhileListening(server, { port: 0 });
    expect(url).toBe(`https://localhost:${port}`);
  });

  it('has no port when the server does not listen, listens on a Unix socket, or does not exist', async () => {
    expect(localUrlOf(createServer())).toBe('http://localhost');
    expect(localUrlOf(undefined)).toBe('http://localhost');
    const folder = mkdtempSync(join(tmpdir(), 'local-url-'));
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(folder, 'shop.sock'), resolve));
    expect(localUrlOf(server)).toBe('http://localhost');
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  });
});
