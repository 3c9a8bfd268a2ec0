import type { PaymentOptions } from '../../lib/options/payment-options.js';
import { refusal, REQUIRED_OPTIONS } from './resolve.js';
import { resolveSettings } from '../../lib/options/resolve-settings.js';
import type { Environment } from '../../lib/options/payment-settings.js';

const settingsOf = (environment: Environment, options: PaymentOptions = {}) =>
  resolveSettings(options, {}, { PAYMENT_BASE_URL: 'simulator:', ...environment });
const problemsOf = (environment: Environment, options?: PaymentOptions) =>
  refusal(() => settingsOf(environment, options)).problems.map(({ option }) => option);

// Where it runs, and what names it, is in expected/settings.txt.

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
});
