import { morposDialect } from '../../lib/gateway/dialects/morpos.dialect.js';
import type { PaymentOptions } from '../../lib/options/payment-options.js';
import type { Environment } from '../../lib/options/payment-settings.js';
import { gatewayHostOf } from '../../lib/payment/gateway-id.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { named, refusal, resolve } from './resolve.js';

describe('what is given in code alone', () => {
  it('is kept', () => {
    const store = new MemoryPaymentStore();
    const beforeAuth3d = (): boolean => true;
    const dispatcher = { dispatch: () => true } as unknown as PaymentOptions['dispatcher'];
    const successUrl = (): string => '/x';
    const settings = resolve({
      store,
      beforeAuth3d,
      dispatcher,
      successUrl,
      failureUrl: successUrl,
      pendingUrl: successUrl,
    });
    expect(settings).toMatchObject({ store, beforeAuth3d, dispatcher, successUrl, failureUrl: successUrl });
    expect(settings.retentionMs).toBeNull();
  });

  it('is null where it is not given', () => {
    expect(resolve()).toMatchObject({ store: null, beforeAuth3d: null, dispatcher: null, account: 'default' });
  });

  it.each(['beforeAuth3d', 'dispatcher', 'store'])('%s is refused where it is something else', (option) => {
    for (const bad of ['zzz', 7, {}, true]) expect(named(() => resolve({ [option]: bad }))).toEqual([option]);
  });
});

describe('scope', () => {
  it('is what the dialect says where it is not given', () => {
    const own = { ...morposDialect(), defaultScope: 'all' };
    expect(resolve({ dialect: 'morpos', signer: undefined, apiKey: 'k' }).credentials.scope).toBe('pf_write pf_read');
    expect(resolve({ dialect: own, apiKey: 'k' }).credentials.scope).toBe('all');
    expect(resolve({ dialect: own, apiKey: 'k', scope: 'pf_write' }).credentials.scope).toBe('pf_write');
    expect(resolve({ dialect: own, apiKey: 'k' }, { PAYMENT_SCOPE: 'pf_read' }).credentials.scope).toBe('pf_read');
  });
});

describe('maxInFlight', () => {
  it('0 sets no limit', () => {
    expect(resolve({}, { PAYMENT_MAX_IN_FLIGHT: '0' }).maxInFlight).toBeNull();
    expect(resolve({ maxInFlight: 0 }).maxInFlight).toBeNull();
  });
});

describe('storeUrl', () => {
  it.each<[object, Environment]>([
    [{}, {}],
    [{}, { PAYMENT_EU_STORE_URL: 'sqlite:f.db' }],
    [{ storeUrl: undefined, store: null }, { PAYMENT_STORE_URL: '' }],
  ])('must be named in production: %j, %j', (options, environment) => {
    const error = refusal(() => resolve(options, { ...environment, NODE_ENV: 'production' }));
    expect(error.problems).toEqual([
      { option: 'storeUrl', variable: 'PAYMENT_STORE_URL', message: expect.any(String) as string },
    ]);
    for (const form of ['sqlite:FILE', 'postgres://', 'mysql://', 'memory:']) expect(error.message).toContain(form);
  });

  it.each<[object, Environment]>([
    [{ storeUrl: 'memory:' }, { NODE_ENV: 'production' }],
    [{ store: new MemoryPaymentStore() }, { NODE_ENV: 'production' }],
    [{}, { NODE_ENV: 'production', PAYMENT_STORE_URL: 'sqlite:f.db' }],
    [{}, { NODE_ENV: 'staging' }],
  ])('need be named no more often: %#', (options, environment) => {
    expect(() => resolve(options, environment)).not.toThrow();
  });
});

describe('formerBaseUrls', () => {
  const own = (formerBaseUrls?: unknown, text = '') =>
    resolve({ formerBaseUrls }, { PAYMENT_FORMER_BASE_URLS: text }).gateways;

  it('are addresses of this gateway, besides baseUrl', () => {
    expect(own().map(gatewayHostOf)).toEqual(['gateway.example']);
    const hosts = ['gateway.example', 'old.example', 'older.example:8443'];
    expect(own(['https://old.example/x/', 'https://older.example:8443']).map(gatewayHostOf)).toEqual(hosts);
    expect(own(undefined, ' https://old.example , https://older.example:8443,').map(gatewayHostOf)).toEqual(hosts);
  });

  it.each([
    ['http://zzz.example', 'must be https, except to a loopback address'],
    ['https://old.example,zzz', 'must be an absolute https URL'],
    ['https://user:zzz@old.example', 'must be an absolute https URL'],
    ['simulator:', 'must be an absolute https URL'],
  ])('are checked as baseUrl is: %s', (text, message) => {
    const error = refusal(() => own(undefined, text));
    expect(error.problems).toEqual([
      { option: 'formerBaseUrls', variable: 'PAYMENT_FORMER_BASE_URLS', message: `each ${message}` },
    ]);
    expect(error.message).not.toContain('zzz');
  });

  it.each(['https://old.example', [7], {}])('%j is no list of them', (value) => {
    expect(named(() => own(value))).toEqual(['formerBaseUrls (PAYMENT_FORMER_BASE_URLS)']);
  });
});
