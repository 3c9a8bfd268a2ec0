import { resultUrlProblem } from '../../lib/options/url-checks.js';

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
