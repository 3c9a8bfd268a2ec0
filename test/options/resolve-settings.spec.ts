import { inspect } from 'node:util';
import { morposDialect } from '../../lib/gateway/dialects/morpos.dialect.js';
import type { PaymentSettings } from '../../lib/options/payment-settings.js';
import { resolveSettings } from '../../lib/options/resolve-settings.js';
import { named, refusal, REQUIRED_OPTIONS, REQUIRED_VARIABLES, resolve } from './resolve.js';

describe('how long settled payments are kept', () => {
  it('is for ever, but in memory a day', () => {
    expect(resolve({ storeUrl: 'sqlite:f.db' }).retentionMs).toBeNull();
    expect(resolve({ storeUrl: 'sqlite:f.db', retentionMs: 0 }).retentionMs).toBeNull();
    expect(resolve({ storeUrl: 'sqlite:f.db', retentionMs: 5 }).retentionMs).toBe(5);
    expect(resolve({ storeUrl: 'memory:', retentionMs: 5 }).retentionMs).toBe(5);
    expect(resolve().retentionMs).toBe(86_400_000);
  });
});

describe('a further account', () => {
  const own = Object.fromEntries(
    Object.entries(REQUIRED_VARIABLES).map(([name, value]) => [name.replace('PAYMENT_', 'PAYMENT_EU_SHOP_2_'), value]),
  );

  it('reads its own variables', () => {
    expect(resolveSettings({}, { name: 'eu-shop-2' }, own)).toMatchObject({ account: 'eu-shop-2', language: 'tr' });
  });

  it('does not fall back on those of the unnamed one', () => {
    const environment = { ...REQUIRED_VARIABLES, PAYMENT_LANGUAGE: 'en' };
    expect(named(() => resolveSettings({}, { name: 'eu' }, environment))).toEqual([
      'signer',
      'baseUrl (PAYMENT_EU_BASE_URL)',
      'merchantId (PAYMENT_EU_MERCHANT_ID)',
      'clientId (PAYMENT_EU_CLIENT_ID)',
      'clientSecret (PAYMENT_EU_CLIENT_SECRET)',
      'publicUrl (PAYMENT_EU_PUBLIC_URL)',
    ]);
    expect(resolve({}, environment, { name: 'eu' }).language).toBe('tr');
    expect(resolve({ verifySign: false }, { PAYMENT_EU_LANGUAGE: 'de' }).language).toBe('tr');
  });

  it('named default is the unnamed one', () => {
    expect(resolveSettings({}, { name: 'default' }, REQUIRED_VARIABLES)).toMatchObject({
      account: 'default',
      baseUrl: 'https://gateway.example',
      credentials: { merchantId: 'M-1', clientId: 'client-1', clientSecret: 'secret-1', apiKey: 'key-1' },
    });
  });
});

describe('what is wrong', () => {
  it('is reported all at once', () => {
    const environment = {
      PAYMENT_BASE_URL: 'http://zzz.example',
      PAYMENT_TIMEOUT_MS: 'zzz',
      PAYMENT_DIALECT: 'zzz',
      PAYMENT_LUHN: 'zzz',
      PAYMENT_PUBLIC_URL: 'https://shop.example',
      PAYMENT_MERCHANT_ID: 'zzz',
      PAYMENT_CLIENT_ID: 'zzz',
    };
    const error = refusal(() => resolveSettings({}, {}, environment));
    expect(error.problems.map(({ option, variable }) => [option, variable])).toEqual([
      ['dialect', 'PAYMENT_DIALECT'],
      ['baseUrl', 'PAYMENT_BASE_URL'],
      ['clientSecret', 'PAYMENT_CLIENT_SECRET'],
      ['timeoutMs', 'PAYMENT_TIMEOUT_MS'],
      ['luhn', 'PAYMENT_LUHN'],
    ]);
    expect(error.message.split('\n')).toHaveLength(6);
    expect(error.code).toBe('PAYMENT_CONFIGURATION');
  });

  it('is a stray % in the address of a store, beside everything else', () => {
    const environment = { PAYMENT_STORE_URL: 'mysql://ada:hidden-50%@db/shop', PAYMENT_LUHN: 'zzz' };
    const error = refusal(() => resolve({}, environment));
    expect(error.problems.map(({ variable }) => variable)).toEqual(['PAYMENT_STORE_URL', 'PAYMENT_LUHN']);
    expect(inspect(error, { depth: null, showHidden: true })).not.toContain('hidden-');
  });

  it('is reported together with what was found elsewhere', () => {
    const other = { option: 'name', variable: null, message: 'is used twice' };
    const run = (): PaymentSettings => resolveSettings({ ...REQUIRED_OPTIONS, luhn: 'x' as never }, {}, {}, [other]);
    expect(named(run)).toEqual(['luhn (PAYMENT_LUHN)', 'name']);
    expect(named(() => resolveSettings(REQUIRED_OPTIONS, {}, {}, [other]))).toEqual(['name']);
  });

  it('is an option that does not exist', () => {
    expect(named(() => resolve({ baseURL: 'zzz', luhnCheck: false }))).toEqual(['baseURL', 'luhnCheck']);
    expect(named(() => resolve({ constructor: 'zzz' }))).toEqual(['constructor']);
  });

  it.each([
    ['baseURL', 'is not an option: did you mean baseUrl?'],
    ['succesUrl', 'is not an option: did you mean successUrl?'],
    ['callbak', 'is not an option: did you mean callback?'],
    ['luhnCheck', 'is not an option'],
  ])('names the option that was meant: %s', (option, message) => {
    expect(refusal(() => resolve({ [option]: 'zzz' })).problems).toEqual([{ option, variable: null, message }]);
  });

  it('is printed once, as a list', () => {
    const error = refusal(() => resolve({ luhn: 'zzz', baseURL: 'zzz' }));
    expect(inspect(error)).toBe(`PaymentConfigurationError: ${error.message}`);
    expect(error.message.split('\n')).toHaveLength(3);
  });

  it.each([-1, 1.5, NaN, Infinity, 2 ** 31])('names a callback.waitMs that no timer takes (%p)', (waitMs) => {
    expect(named(() => resolve({}, {}, { callback: { waitMs } }))).toEqual(['callback.waitMs']);
  });

  it('is reported without any value, however the error is looked at', () => {
    const secrets = {
      baseUrl: 'http://hidden-base.example',
      merchantId: ' hidden-merchant',
      clientId: 'hidden-client\n',
      clientSecret: 'hidden-secret\n',
      apiKey: ['hidden-key'],
      scope: 'hidden-scope\t',
      publicUrl: 'https://hidden-user:hidden-password@shop.example',
      storeUrl: 'oracle://hidden-user:hidden-password@db',
      successUrl: 'hidden-success',
      timeoutMs: 'hidden-timeout',
      verifyAmount: 'hidden-amount',
    };
    const error = refusal(() => resolve(secrets));
    expect(error.problems).toHaveLength(Object.keys(secrets).length);
    const seen = [
      error.message,
      String(error),
      error.stack,
      JSON.stringify(error),
      inspect(error, { depth: null, showHidden: true }),
    ].join();
    expect(seen).not.toContain('hidden-');
    expect(error.cause).toBeUndefined();
  });
});

describe('the public address', () => {
  it('is needed while the callback is on', () => {
    expect(named(() => resolve({ publicUrl: undefined }))).toEqual(['publicUrl (PAYMENT_PUBLIC_URL)']);
    expect(named(() => resolve({ publicUrl: undefined }, {}, { callback: { path: 'x' } }))).toHaveLength(1);
  });

  it('is not needed beside a callbackUrl, or while the callback is off', () => {
    expect(resolve({ publicUrl: undefined, callbackUrl: 'https://s.example/p' }).publicUrl).toBeNull();
    expect(resolve({ publicUrl: undefined }, { PAYMENT_CALLBACK_URL: 'https://s.example/p' }).publicUrl).toBeNull();
    expect(resolve({ publicUrl: undefined }, {}, { callback: false }).publicUrl).toBeNull();
  });

  it('is not called missing beside a callbackUrl that is wrong', () => {
    expect(named(() => resolve({ publicUrl: undefined, callbackUrl: 'x' }))).toEqual([
      'callbackUrl (PAYMENT_CALLBACK_URL)',
    ]);
  });
});

describe('the dialect', () => {
  it('standard needs a signer', () => {
    expect(named(() => resolve({ signer: undefined }))).toEqual(['signer']);
    expect(named(() => resolve({ signer: 'zzz' }))).toEqual(['signer']);
  });

  it('morpos needs an API key and has no use for a signer', () => {
    expect(named(() => resolve({ dialect: 'morpos', signer: undefined }))).toEqual(['apiKey (PAYMENT_API_KEY)']);
    expect(named(() => resolve({ dialect: 'morpos', apiKey: 'k' }))).toEqual(['signer']);
    expect(resolve({ dialect: 'morpos', apiKey: 'k', signer: undefined }).dialect.name).toBe('morpos');
    expect(named(() => resolve({ dialect: 'morpos', apiKey: '', signer: undefined }))).toEqual([
      'apiKey (PAYMENT_API_KEY)',
    ]);
  });

  it("may be one of one's own, which wins over the variable", () => {
    const dialect = morposDialect();
    expect(resolve({ dialect, apiKey: 'k', signer: undefined }, { PAYMENT_DIALECT: 'standard' }).dialect).toBe(dialect);
    expect(named(() => resolve({ dialect, signer: undefined }))).toEqual(['apiKey (PAYMENT_API_KEY)']);
    const keyless = { ...dialect, name: 'own', requiresApiKey: false };
    expect(resolve({ dialect: keyless, signer: undefined }).dialect.name).toBe('own');
  });

  it("of one's own must be whole", () => {
    const halved = { ...morposDialect(), sign: undefined, operations: undefined, codes: null };
    const error = refusal(() => resolve({ dialect: halved }));
    expect(error.problems).toEqual([
      { option: 'dialect', variable: null, message: 'is no GatewayDialect: it lacks sign, operations, codes' },
    ]);
    expect(named(() => resolve({ dialect: {} }))).toEqual(['dialect']);
    expect(named(() => resolve({ dialect: morposDialect }))).toEqual(['dialect (PAYMENT_DIALECT)']);
  });

  it('must be able to verify signs where that is asked for', () => {
    expect(named(() => resolve({ verifySign: true }))).toEqual(['verifySign (PAYMENT_VERIFY_SIGN)']);
    expect(resolve({}, { ...REQUIRED_VARIABLES, PAYMENT_VERIFY_SIGN: 'true' }, {}, {}).verifySign).toBe(true);
  });
});
