import { ApplicationConfig, HttpAdapterHost } from '@nestjs/core';
import { ReturnUrlMaker } from '../../lib/operations/return-urls.js';
import { PaymentValidationError } from '../../lib/errors/payment-errors.js';
import type { PaymentSettings } from '../../lib/options/payment-settings.js';

const TOKEN = 'T'.repeat(43);

function urls(settings: Partial<PaymentSettings> = {}, path: string | null = 'payments', prefix = ''): ReturnUrlMaker {
  const config = new ApplicationConfig();
  config.setGlobalPrefix(prefix);
  const none = { publicUrl: 'https://shop.example', callbackUrl: null, returnUrl: null, failUrl: null };
  return new ReturnUrlMaker(
    { ...none, ...settings } as PaymentSettings,
    { path, waitMs: 1 },
    config,
    new HttpAdapterHost(),
  );
}

describe('the return URL', () => {
  it('points to the built-in controller', () => {
    expect(urls().make({}, TOKEN)).toEqual({
      returnUrl: `https://shop.example/payments/${TOKEN}/return`,
      failUrl: `https://shop.example/payments/${TOKEN}/fail`,
    });
  });

  it('has a placeholder for the token in a direct payment', () => {
    expect(urls().make({})).toEqual({
      returnUrl: 'https://shop.example/payments/direct/return',
      failUrl: 'https://shop.example/payments/direct/fail',
    });
  });

  it.each([
    ['api', 'https://shop.example/api/payments/direct/return'],
    ['/api/v1/', 'https://shop.example/api/v1/payments/direct/return'],
    ['/', 'https://shop.example/payments/direct/return'],
  ])('includes the global prefix %s', (prefix, returnUrl) => {
    expect(urls({}, 'payments', prefix).make({}).returnUrl).toBe(returnUrl);
  });

  it('includes the path of the public URL', () => {
    expect(urls({ publicUrl: 'https://shop.example/eu' }, 'pay/eu', 'api').make({}).failUrl).toBe(
      'https://shop.example/eu/api/pay/eu/direct/fail',
    );
  });

  it('points to a controller without a path', () => {
    expect(urls({}, '').make({}).returnUrl).toBe('https://shop.example/direct/return');
  });

  it('starts with callbackUrl if that is set, without the global prefix', () => {
    expect(urls({ callbackUrl: 'https://pay.example/cb' }, 'payments', 'api').make({}, TOKEN).returnUrl).toBe(
      `https://pay.example/cb/${TOKEN}/return`,
    );
  });

  it('is the configured returnUrl or failUrl, with the token filled in', () => {
    const settings = { returnUrl: 'https://own.example/{token}/ok?t={token}', failUrl: 'https://own.example/no' };
    expect(urls(settings).make({}, TOKEN)).toEqual({
      returnUrl: `https://own.example/${TOKEN}/ok?t=${TOKEN}`,
      failUrl: 'https://own.example/no',
    });
  });

  it('is the one given with the payment, which overrides each configured one separately', () => {
    const settings = { returnUrl: 'https://own.example/ok' };
    expect(urls(settings).make({ failUrl: 'https://shop.example/{token}' }, TOKEN)).toEqual({
      returnUrl: 'https://own.example/ok',
      failUrl: `https://shop.example/${TOKEN}`,
    });
  });

  it('is the one given with the payment even if both are configured', () => {
    const settings = { returnUrl: 'https://own.example/ok', failUrl: 'https://own.example/no' };
    const own = { returnUrl: 'https://shop.example/ok', failUrl: 'https://shop.example/no' };
    expect(urls(settings).make(own, TOKEN)).toEqual(own);
  });

  it('must be given when the controller is off', () => {
    const off = urls({}, null);
    let error: unknown;
    try {
      off.make({ returnUrl: 'https://shop.example' });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(PaymentValidationError);
    expect((error as PaymentValidationError).issues).toEqual([
      { path: 'failUrl', field: 'failUrl', rule: 'isDefined', message: expect.stringContaining('failUrl') as string },
    ]);
    expect(() => off.make({})).toThrow(PaymentValidationError);
    expect(() => urls({ language: 'tr' }, null).make({})).toThrow(/because the callback controller is off/);
    const own = { returnUrl: 'https://shop.example/a', failUrl: 'https://shop.example/b' };
    expect(off.make(own)).toEqual(own);
  });

  it('has no global prefix if the host excludes the callback from it', () => {
    const config = new ApplicationConfig();
    config.setGlobalPrefix('api');
    const exclude = [{ path: '', requestMethod: -1, pathRegex: /^\/payments\/[^/]+\/return$/ }];
    config.setGlobalPrefixOptions({ exclude });
    const settings = { publicUrl: 'https://shop.example', callbackUrl: null, returnUrl: null, failUrl: null };
    const excluding = (path: string) =>
      new ReturnUrlMaker(settings as PaymentSettings, { path, waitMs: 1 }, config, new HttpAdapterHost()).make({});
    expect(excluding('payments').returnUrl).toBe('https://shop.example/payments/direct/return');
    expect(excluding('pay').returnUrl).toBe('https://shop.example/api/pay/direct/return');
  });

  it('points to localhost if no public URL is set and no server runs', () => {
    expect(urls({ publicUrl: null }).make({}).returnUrl).toBe('http://localhost/payments/direct/return');
  });
});

describe('the return URL in the start-up report', () => {
  it.each<[string, Partial<PaymentSettings>, string | null, string | null]>([
    [
      'is the configured returnUrl',
      { returnUrl: 'https://own.example/{token}' },
      'payments',
      'https://own.example/{token}',
    ],
    ['is left out if the controller is off, since each payment gives its own', {}, null, null],
    ['points to the controller', {}, 'payments', 'https://shop.example/api/payments/{token}/return'],
    [
      'starts with callbackUrl',
      { callbackUrl: 'https://pay.example/cb' },
      'payments',
      'https://pay.example/cb/{token}/return',
    ],
    [
      'starts with callbackUrl even without a public URL',
      { callbackUrl: 'https://pay.example/cb', publicUrl: null },
      'payments',
      'https://pay.example/cb/{token}/return',
    ],
    ['is only a path until the server listens', { publicUrl: null }, 'payments', '/payments/{token}/return'],
  ])('%s', (_what, settings, path, shown) => {
    expect(urls(settings, path, 'api').shown()).toBe(shown);
  });
});

describe('a URL of a call', () => {
  const own = { returnUrl: 'https://www.shop.example/back', failUrl: null };
  const refusal = (settings: Partial<PaymentSettings>, given: object, path: string | null = 'payments') => {
    try {
      urls(settings, path).make(given);
      return null;
    } catch (error) {
      return error as PaymentValidationError;
    }
  };

  it('may lead to any origin that the settings name', () => {
    for (const returnUrl of ['https://shop.example/{token}', 'https://www.shop.example/x', undefined]) {
      expect(refusal(own, { returnUrl })).toBeNull();
    }
  });

  it('may lead anywhere if publicUrl is this machine, as it is with the simulator', () => {
    const returnUrl = 'https://elsewhere.example/';
    expect(refusal({ publicUrl: 'http://localhost:3000' }, { returnUrl })).toBeNull();
    expect(refusal({ publicUrl: null }, { returnUrl })).toBeNull();
  });

  it('is refused if no address of the shop is configured, by the variable that sets it', () => {
    const both = { returnUrl: 'https://a.example', failUrl: 'https://b.example' };
    const none = { publicUrl: null, account: 'store2' };
    expect(refusal(none, both, null)).toMatchObject({
      issues: [
        { path: 'returnUrl' },
        { path: 'failUrl', message: expect.stringContaining('PAYMENT_STORE2_PUBLIC_URL') as string },
      ],
    });
  });

  it.each([
    'https://evil.example/',
    'https://shop.example.evil.example/',
    'https://shop.example@evil.example/',
    'https://shop.example\\@evil.example/',
    'https://evil:b@shop.example/',
    'https://shop.example:8443/',
    'http://shop.example/',
  ])('is refused if it leads elsewhere: %s', (url) => {
    expect(refusal(own, { failUrl: url })).toBeInstanceOf(PaymentValidationError);
    expect(refusal(own, { failUrl: url })).toMatchObject({ issues: [{ path: 'failUrl', rule: 'ownUrl' }] });
    expect(refusal(own, { failUrl: url, language: 'tr' })?.message).not.toContain('evil');
  });
});
