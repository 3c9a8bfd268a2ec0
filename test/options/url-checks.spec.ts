import { resultUrlProblem } from '../../lib/options/url-checks.js';
import { named, resolve } from './resolve.js';

describe('an https address', () => {
  it.each([
    'http://localhost:3000',
    'http://pay.localhost',
    'http://127.0.0.1',
    'http://127.9.9.9:1',
    'http://[::1]:8080',
  ])('need not be https on this machine: %s', (url) => {
    expect(resolve({ baseUrl: url, publicUrl: url, callbackUrl: url, returnUrl: url, failUrl: url }).baseUrl).toBe(url);
  });

  it.each([
    'http://gateway.example',
    'http://localhost.example',
    'http://127.0.0.1.example',
    'http://127.0.0.1@gateway.example',
    'http://10.0.0.1',
    'http://0.0.0.0',
    'http://[::2]',
    'https://user:pass@gateway.example',
    'https://user@gateway.example',
    'ws://gateway.example',
    'file:///etc/passwd',
    'gateway.example',
    '//gateway.example',
    'https://',
    ' https://gateway.example',
    'https://gateway.example ',
    'https://gateway.example\n',
    'https://gate\tway.example',
    'https://gateway.example/a b',
    'https://gateway.example?x=1',
    'https://gateway.example/?',
    'https://gateway.example/#x',
    'https://gateway.example/#',
  ])('is not %j', (url) => {
    expect(named(() => resolve({ baseUrl: url }))).toEqual(['baseUrl (PAYMENT_BASE_URL)']);
    expect(named(() => resolve({ publicUrl: url }))).toEqual(['publicUrl (PAYMENT_PUBLIC_URL)']);
    expect(named(() => resolve({ callbackUrl: url }))).toEqual(['callbackUrl (PAYMENT_CALLBACK_URL)']);
  });

  it('loses the slashes at its end', () => {
    const { baseUrl, publicUrl, callbackUrl } = resolve({
      baseUrl: 'https://g.example//',
      publicUrl: 'https://s.example/',
      callbackUrl: 'https://s.example/pay/',
    });
    expect([baseUrl, publicUrl, callbackUrl]).toEqual([
      'https://g.example',
      'https://s.example',
      'https://s.example/pay',
    ]);
  });
});

describe('an address for the buyer', () => {
  it.each([
    '/',
    '/thanks',
    '/thanks?a=b#c',
    '/a/../b',
    '/a b',
    '/ödeme',
    'https://shop.example/a b',
    'http://shop.example',
  ])('may be %j', (url) => {
    expect(resultUrlProblem(url)).toBeNull();
  });

  it.each([
    '',
    'thanks',
    './thanks',
    '?a=b',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '/.//evil.example',
    '/..//evil.example',
    '/orders/..//evil.example',
    '/orders/%2e%2e//evil.example',
    '/orders/..\\\\evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://shop.example',
    'https://user:pass@shop.example',
  ])('does not lead away by stealth: %j', (url) => {
    expect(resultUrlProblem(url)).not.toBeNull();
  });
});
