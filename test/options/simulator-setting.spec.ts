import type { PaymentOptions } from '../../lib/options/payment-options.js';
import { refusal, REQUIRED_OPTIONS, resolve } from './resolve.js';
import { resolveSettings } from '../../lib/options/resolve-settings.js';
import type { Environment } from '../../lib/options/payment-settings.js';

const settingsOf = (environment: Environment, options: PaymentOptions = {}) =>
  resolveSettings(options, {}, { PAYMENT_BASE_URL: 'simulator:', ...environment });
const problemsOf = (environment: Environment, options?: PaymentOptions) =>
  refusal(() => settingsOf(environment, options)).problems.map(({ option }) => option);

describe('the embedded simulator', () => {
  it('is all that has to be set', () => {
    const settings = settingsOf({});
    expect(settings).toMatchObject({ baseUrl: 'simulator:', publicUrl: null });
    expect(settings.dialect.name).toBe('morpos');
  });

  it('has settings of its own, whatever those for the real gateway are, good or bad', () => {
    const its = settingsOf({});
    const signer = () => 'zzz';
    for (const settings of [
      settingsOf({}, { ...REQUIRED_OPTIONS, baseUrl: 'simulator:', publicUrl: undefined, apiKey: 'zzz', scope: 'zzz' }),
      settingsOf({}, { signer, dialect: {} as never, dispatcher: {} as never, dateOrder: 'mdy' }),
      settingsOf({ PAYMENT_DIALECT: 'zzz', PAYMENT_MERCHANT_ID: ' ', PAYMENT_GRANT_TYPE: 'zzz' }),
    ]) {
      expect(settings.credentials).toEqual(its.credentials);
      expect(settings.dialect.name).toBe('morpos');
      expect(settings.dateOrder).toBe('dmy');
      expect(settings.dispatcher).toBeNull();
    }
  });

  it('leaves every other setting as it is', () => {
    expect(settingsOf({ PAYMENT_TIMEOUT_MS: '5', PAYMENT_PUBLIC_URL: 'http://localhost:3000' })).toMatchObject({
      timeoutMs: 5,
      publicUrl: 'http://localhost:3000',
    });
    expect(problemsOf({ PAYMENT_TIMEOUT_MS: 'zzz', PAYMENT_PUBLIC_URL: 'zzz' })).toEqual(['timeoutMs', 'publicUrl']);
    expect(problemsOf({}, { baseURL: 'zzz' } as never)).toEqual(['baseURL']);
  });

  it('is there for a named account, too', () => {
    const settings = resolveSettings({}, { name: 'eu' }, { PAYMENT_EU_BASE_URL: 'simulator:' });
    expect(settings).toMatchObject({ account: 'eu', baseUrl: 'simulator:' });
  });

  it.each([
    ['development', {}],
    ['test', {}],
    ['development', { publicUrl: 'https://shop.example' }],
    ['test', { callbackUrl: 'https://shop.example/p' }],
    [undefined, {}],
    ['', {}],
    [undefined, { publicUrl: 'http://localhost:3000' }],
    [undefined, { publicUrl: 'https://127.0.0.1', callbackUrl: 'http://[::1]:3000/p' }],
    [undefined, { returnUrl: 'http://localhost/{token}', failUrl: 'http://shop.localhost/{token}' }],
  ])('runs with NODE_ENV %s and %j', (NODE_ENV, options) => {
    expect(settingsOf({ NODE_ENV }, options).baseUrl).toBe('simulator:');
  });

  it.each([
    ['production', {}],
    ['production', { publicUrl: 'http://localhost:3000' }],
    ['staging', {}],
    ['Development', {}],
    ['prod', {}],
    [' ', {}],
    [undefined, { publicUrl: 'https://shop.example' }],
    ['', { publicUrl: 'https://shop.example' }],
    [undefined, { callbackUrl: 'https://shop.example/payments' }],
    [undefined, { returnUrl: 'https://shop.example/{token}' }],
    [undefined, { failUrl: 'https://shop.example/{token}', publicUrl: 'http://localhost:3000' }],
  ])('is refused with NODE_ENV %j and %j', (NODE_ENV, options) => {
    const { problems, message } = refusal(() => settingsOf({ NODE_ENV }, options));
    expect(problems).toMatchObject([{ option: 'baseUrl', variable: 'PAYMENT_BASE_URL' }]);
    expect(message).toMatch(/no money would move.*give the gateway's address or.*set NODE_ENV=development/);
  });

  it.each(['simulator', 'Simulator:', 'SIMULATOR', 'simulator:4010', 'simulator://', 'simulator:/x', ' simulator:'])(
    'is not %j, which is all that the error speaks of',
    (baseUrl) => {
      for (const refused of [
        refusal(() => resolveSettings({}, {}, { PAYMENT_BASE_URL: baseUrl })),
        refusal(() => resolveSettings({ baseUrl }, {}, {})),
      ]) {
        expect(refused.problems).toEqual([
          {
            option: 'baseUrl',
            variable: 'PAYMENT_BASE_URL',
            message: expect.stringContaining('must be simulator: alone, without a port or a path'),
          },
        ]);
      }
    },
  );

  it.each(['https://simulator.example', 'http://localhost/simulator:'])('is not meant by %s', (baseUrl) => {
    expect(resolve({ baseUrl }).baseUrl).toBe(baseUrl);
  });

  it.each(['simulators', 'simulator.example', 'simulator-gateway'])('is not meant by %s', (baseUrl) => {
    expect(refusal(() => resolve({ baseUrl })).message).toContain('must be an absolute https URL');
  });

  it('is not the address of anything else', () => {
    expect(problemsOf({ PAYMENT_PUBLIC_URL: 'simulator:', PAYMENT_CALLBACK_URL: 'simulator:' })).toEqual([
      'publicUrl',
      'callbackUrl',
    ]);
  });
});
