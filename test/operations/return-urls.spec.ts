import { RequestMethod } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost } from '@nestjs/core';
import { createServer, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { localUrlOf, ReturnUrlMaker, type ReturnUrls } from '../../lib/operations/return-urls.js';
import { PaymentValidationError } from '../../lib/errors/payment-errors.js';
import type { PaymentSettings } from '../../lib/options/payment-settings.js';
import { expectCases } from '../rigs/case-texts.js';
import { selfSigned } from '../rigs/certificates.js';

/** `prefix=api publicUrl=https://shop.example/eu returnUrl=… given.failUrl=…` */
function caseOf(input: string): { maker: ReturnUrlMaker; given: Partial<ReturnUrls> } {
  const named = Object.fromEntries(input.split(' ').map((word) => /^([\w.]+)=(.*)$/s.exec(word)?.slice(1) ?? []));
  const { prefix = '', excluded, path = 'payments', ...others } = named as Readonly<Record<string, string>>;
  const config = new ApplicationConfig();
  config.setGlobalPrefix(prefix);
  if (excluded !== undefined) {
    const exclude = {
      path: '',
      requestMethod: RequestMethod.ALL,
      pathRegex: new RegExp(`^/${excluded}/[^/]+/return$`),
    };
    config.setGlobalPrefixOptions({ exclude: [exclude] });
  }
  const settings: Record<string, string | null> = { callbackUrl: null, returnUrl: null, failUrl: null };
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries({ publicUrl: 'https://shop.example', ...others })) {
    if (name.startsWith('given.')) given[name.slice('given.'.length)] = value;
    else settings[name] = value === 'none' ? null : value;
  }
  const route = { path: path === 'off' ? null : path, waitMs: 1 };
  const all = settings as unknown as PaymentSettings;
  return { maker: new ReturnUrlMaker(all, route, config, new HttpAdapterHost()), given };
}

/** Both addresses, or why each is refused, which never tells where it leads. */
function made(input: string): string {
  const { maker, given } = caseOf(input);
  try {
    const { returnUrl, failUrl } = maker.make(given, 'TOKEN');
    // A direct payment has a placeholder for the token.
    const [direct, failed] = [returnUrl, failUrl].map((url) => url.replaceAll('TOKEN', 'direct'));
    expect(maker.make(given)).toEqual({ returnUrl: direct, failUrl: failed });
    const base = returnUrl.replace(/return$/, '');
    return failUrl === `${base}fail` && returnUrl !== base ? `${base}return and fail` : `${returnUrl} and ${failUrl}`;
  } catch (error) {
    expect(error).toBeInstanceOf(PaymentValidationError);
    const { issues } = error as PaymentValidationError;
    return issues.map((issue) => `${issue.path} ${issue.rule}: ${issue.message}`).join('\n');
  }
}

/** The rule that a `failUrl` breaks, which never tells where it leads. */
function elsewhere(failUrl: string): string {
  const told = made(`returnUrl=https://www.shop.example/back given.failUrl=${failUrl}`);
  expect(told).not.toContain('evil');
  return told.replace(/:.*/, '');
}

test('the return URLs', () =>
  expectCases(import.meta.url, 'return-urls.txt', {
    'Where the bank sends the buyer': made,
    'To whom the buyer is not sent': elsewhere,
    'What the start-up report shows': (input) => caseOf(input).maker.shown() ?? 'nothing',
  }));

describe('the local URL', () => {
  /** Of a server that listens at this address, and does not really do so. */
  const urlAt = (address: AddressInfo | string | null, server: Server = createServer()): string =>
    localUrlOf(Object.assign(server, { address: () => address }));

  it.each([
    ['0.0.0.0', 'IPv4', 'http://localhost:81'],
    ['127.0.0.1', 'IPv4', 'http://localhost:81'],
    ['127.0.0.2', 'IPv4', 'http://127.0.0.2:81'],
    ['192.0.2.7', 'IPv4', 'http://192.0.2.7:81'],
    ['fd00::7', 'IPv6', 'http://[fd00::7]:81'],
    ['::', 'IPv6', 'http://localhost:81'],
    ['::1', 'IPv6', 'http://localhost:81'],
  ])('of a server on %s (%s) is %s', (address, family, url) => {
    expect(urlAt({ address, family, port: 81 })).toBe(url);
  });

  it('is https for a server with TLS', () => {
    const address = { address: '::', family: 'IPv6', port: 443 };
    expect(urlAt(address, createHttpsServer(selfSigned('localhost')))).toBe('https://localhost:443');
  });

  it('has no port when the server does not listen, listens on a Unix socket, or does not exist', () => {
    for (const url of [localUrlOf(createServer()), urlAt('/run/shop.sock'), localUrlOf(undefined)]) {
      expect(url).toBe('http://localhost');
    }
  });
});
