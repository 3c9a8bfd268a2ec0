import { inspect } from 'node:util';
import { morposDialect } from '../../lib/gateway/dialects/morpos.dialect.js';
import { type PaymentOptions, type PaymentStructure } from '../../lib/options/payment-options.js';
import type { Environment, PaymentSettings } from '../../lib/options/payment-settings.js';
import { resolveSettings } from '../../lib/options/resolve-settings.js';
import { gatewayHostOf } from '../../lib/payment/gateway-id.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { named, refusal, REQUIRED_OPTIONS, REQUIRED_VARIABLES, resolve } from './resolve.js';

// What each variable takes or refuses is in expected/settings.txt.

const MORPOS = { dialect: 'morpos', signer: undefined, apiKey: 'k' };
const OWN = { ...morposDialect(), defaultScope: 'all' };
const OF_OWN = { dialect: OWN, signer: undefined, apiKey: 'k' };
const ADDRESS = 'https://s.example/p';
const SQLITE = { storeUrl: 'sqlite:f.db' };
const store = new MemoryPaymentStore();
const beforeAuth3d = (): boolean => true;
const dispatcher = { dispatch: () => true } as unknown as PaymentOptions['dispatcher'];
const address = (): string => '/x';
const SIMULATOR = { baseUrl: 'simulator:', publicUrl: undefined };
/** Whatever those for the real gateway are, good or bad. */
const SIMULATED = {
  credentials: { merchantId: '100200300', clientId: 'embedded-simulator', apiKey: 'embedded-simulator-key' },
  dialect: { name: 'morpos' },
  dateOrder: 'dmy',
  dispatcher: null,
  publicUrl: null,
};
const scope = (text: string) => ({ credentials: { scope: text } });

test.each<[what: string, settings: object, options: object, Environment?, PaymentStructure?]>([
  ['nothing is given', { store: null, beforeAuth3d: null, dispatcher: null, account: 'default' }, {}],
  ...[
    { store, beforeAuth3d, dispatcher },
    { successUrl: address, failureUrl: address, pendingUrl: address },
  ].map((inCode): [string, object, object] => ['what is given in code alone', inCode, inCode]),
  // How long settled payments are kept: for ever, but in memory a day.
  ['retentionMs in a database', { retentionMs: null }, SQLITE],
  ['retentionMs of 0', { retentionMs: null }, { ...SQLITE, retentionMs: 0 }],
  ['retentionMs that is given', { retentionMs: 5 }, { ...SQLITE, retentionMs: 5 }],
  ['retentionMs in memory that is given', { retentionMs: 5 }, { storeUrl: 'memory:', retentionMs: 5 }],
  ['retentionMs in memory', { retentionMs: 86_400_000 }, {}],
  ['retentionMs in a store of the host', { retentionMs: null }, { store }],
  // A dialect has a scope of its own.
  ['scope', scope('pf_write pf_read'), MORPOS],
  ['scope of an own dialect', scope('all'), OF_OWN],
  ['scope that is given', scope('pf_write'), { ...OF_OWN, scope: 'pf_write' }],
  ['scope as a variable', scope('pf_read'), OF_OWN, { PAYMENT_SCOPE: 'pf_read' }],
  ['no limit by a variable', { maxInFlight: null }, {}, { PAYMENT_MAX_IN_FLIGHT: '0' }],
  ['no limit', { maxInFlight: null }, { maxInFlight: 0 }],
  // The store must be named in production.
  ['memory in production', { store: null }, { storeUrl: 'memory:' }, { NODE_ENV: 'production' }],
  ['a store in production', { store }, { store }, { NODE_ENV: 'production' }],
  ['a variable in production', {}, {}, { NODE_ENV: 'production', PAYMENT_STORE_URL: 'sqlite:f.db' }],
  ['no store in staging', { store: null }, {}, { NODE_ENV: 'staging' }],
  // The public address is needed while the callback is on, unless there is a callbackUrl.
  ['a callbackUrl', { publicUrl: null }, { publicUrl: undefined, callbackUrl: ADDRESS }],
  ['a variable', { publicUrl: null }, { publicUrl: undefined }, { PAYMENT_CALLBACK_URL: ADDRESS }],
  ['no callback', { publicUrl: null }, { publicUrl: undefined }, {}, { callback: false }],
  ['the dialect morpos', { dialect: { name: 'morpos' } }, MORPOS],
  ['an own dialect, which wins over the variable', { dialect: OWN }, OF_OWN, { PAYMENT_DIALECT: 'standard' }],
  [
    'an own dialect without a key',
    { dialect: { name: 'own' } },
    { dialect: { ...OWN, name: 'own', requiresApiKey: false }, signer: undefined },
  ],
  // The embedded simulator has settings of its own, and leaves every other as it is.
  [
    'the simulator',
    SIMULATED,
    { ...SIMULATOR, apiKey: 'zzz', scope: 'zzz', dialect: {}, dispatcher: {}, dateOrder: 'mdy' },
  ],
  [
    'the simulator beside variables',
    SIMULATED,
    { ...SIMULATOR, merchantId: undefined, signer: undefined },
    { PAYMENT_DIALECT: 'zzz', PAYMENT_MERCHANT_ID: ' ', PAYMENT_GRANT_TYPE: 'zzz' },
  ],
  ['the scope of the simulator', scope('pf_write pf_read'), { ...SIMULATOR, scope: 'zzz' }],
  ['other variables', { timeoutMs: 5, baseUrl: 'simulator:' }, SIMULATOR, { PAYMENT_TIMEOUT_MS: '5' }],
  [
    'the simulator of a further account',
    { account: 'eu', baseUrl: 'simulator:' },
    { baseUrl: undefined, publicUrl: undefined },
    { PAYMENT_EU_BASE_URL: 'simulator:' },
    { name: 'eu' },
  ],
  // A further account reads its own variables, and those alone.
  ['another account', { language: 'tr' }, {}, { ...REQUIRED_VARIABLES, PAYMENT_LANGUAGE: 'en' }, { name: 'eu' }],
  ["another account's variables", { language: 'tr' }, {}, { PAYMENT_EU_LANGUAGE: 'de' }],
])('of %s, the settings are those (%#)', (_what, settings, ...given) => {
  expect(resolve(...given)).toMatchObject(settings);
});

test('a further account has all its variables, and one that is named default those of the unnamed one', () => {
  const ofEu = Object.entries(REQUIRED_VARIABLES).map(([name, value]) => {
    return [name.replace('PAYMENT_', 'PAYMENT_EU_SHOP_2_'), value] as const;
  });
  const eu = resolveSettings({}, { name: 'eu-shop-2' }, Object.fromEntries(ofEu));
  expect(eu).toMatchObject({ account: 'eu-shop-2', language: 'tr' });
  const settings = resolveSettings({}, { name: 'default' }, { ...REQUIRED_VARIABLES, PAYMENT_VERIFY_SIGN: 'true' });
  expect(settings).toMatchObject({ account: 'default', baseUrl: 'https://gateway.example', verifySign: true });
  const credentials = { merchantId: 'M-1', clientId: 'client-1', clientSecret: 'secret-1', apiKey: 'key-1' };
  expect(settings.credentials).toMatchObject(credentials);
});

const API_KEY = 'apiKey (PAYMENT_API_KEY)';
const PUBLIC_URL = 'publicUrl (PAYMENT_PUBLIC_URL)';
const FORMER = 'formerBaseUrls (PAYMENT_FORMER_BASE_URLS)';

test.each<[problems: string[], options: object, Environment?, PaymentStructure?]>([
  ...['beforeAuth3d', 'dispatcher', 'store'].flatMap((option) =>
    ['zzz', 7, {}, true].map((bad): [string[], object] => [[option], { [option]: bad }]),
  ),
  ...['https://old.example', [7], {}].map((bad): [string[], object] => [[FORMER], { formerBaseUrls: bad }]),
  ...[-1, 1.5, NaN, Infinity, 2 ** 31].map((waitMs): [string[], object, Environment, PaymentStructure] => {
    return [['callback.waitMs'], {}, {}, { callback: { waitMs } }];
  }),
  [['baseURL', 'luhnCheck'], { baseURL: 'zzz', luhnCheck: false }],
  [['constructor'], { constructor: 'zzz' }],
  [[PUBLIC_URL], { publicUrl: undefined }],
  [[PUBLIC_URL], { publicUrl: undefined }, {}, { callback: { path: 'x' } }],
  // It is not called missing beside a callbackUrl that is wrong.
  [['callbackUrl (PAYMENT_CALLBACK_URL)'], { publicUrl: undefined, callbackUrl: 'x' }],
  [['signer'], { signer: undefined }],
  [['signer'], { signer: 'zzz' }],
  [['signer'], { dialect: 'morpos', apiKey: 'k' }],
  [[API_KEY], { dialect: 'morpos', signer: undefined }],
  [[API_KEY], { dialect: 'morpos', apiKey: '', signer: undefined }],
  [[API_KEY], { dialect: OWN, signer: undefined }],
  [['dialect'], { dialect: {} }],
  [['dialect (PAYMENT_DIALECT)'], { dialect: morposDialect }],
  [['verifySign (PAYMENT_VERIFY_SIGN)'], { verifySign: true }],
  [['timeoutMs (PAYMENT_TIMEOUT_MS)', PUBLIC_URL], SIMULATOR, { PAYMENT_TIMEOUT_MS: 'zzz', PAYMENT_PUBLIC_URL: 'zzz' }],
  [['baseURL'], { ...SIMULATOR, baseURL: 'zzz' }],
])('what is wrong is %j (%#)', (problems, ...given) => {
  expect(named(() => resolve(...given))).toEqual(problems);
});

const isNot = 'is not an option';
const must = 'must be an absolute https URL';

test.each<[option: string, variable: string | null, message: string, options: object, Environment?]>([
  ['baseURL', null, `${isNot}: did you mean baseUrl?`, { baseURL: 'zzz' }],
  ['succesUrl', null, `${isNot}: did you mean successUrl?`, { succesUrl: 'zzz' }],
  ['callbak', null, `${isNot}: did you mean callback?`, { callbak: 'zzz' }],
  ['luhnCheck', null, isNot, { luhnCheck: 'zzz' }],
  [
    'dialect',
    null,
    'is no GatewayDialect: it lacks sign, operations, codes',
    { dialect: { ...OWN, sign: undefined, operations: undefined, codes: null } },
  ],
  // Former addresses are checked as baseUrl is.
  ...[
    ['http://zzz.example', 'must be https, except to a loopback address'],
    ['https://old.example,zzz', must],
    ['https://user:zzz@old.example', must],
    ['simulator:', must],
  ].map(([text, message]): [string, string, string, object, Environment] => {
    const variable = 'PAYMENT_FORMER_BASE_URLS';
    return ['formerBaseUrls', variable, `each ${message}`, {}, { [variable]: text }];
  }),
])('of %s (%s) is said: %s', (option, variable, message, ...given) => {
  const error = refusal(() => resolve(...given));
  expect(error.problems).toEqual([{ option, variable, message }]);
  expect(error.message).not.toContain('zzz');
});

test.each<[object, Environment]>([
  [{}, {}],
  [{}, { PAYMENT_EU_STORE_URL: 'sqlite:f.db' }],
  [{ storeUrl: undefined, store: null }, { PAYMENT_STORE_URL: '' }],
])('the store must be named in production: %j, %j', (options, environment) => {
  const error = refusal(() => resolve(options, { ...environment, NODE_ENV: 'production' }));
  expect(error.problems).toMatchObject([{ option: 'storeUrl', variable: 'PAYMENT_STORE_URL' }]);
  for (const form of ['sqlite:FILE', 'postgres://', 'mysql://', 'memory:']) expect(error.message).toContain(form);
});

test('former addresses are addresses of this gateway, besides baseUrl', () => {
  const hosts = (formerBaseUrls?: unknown, text = ''): string[] =>
    resolve({ formerBaseUrls }, { PAYMENT_FORMER_BASE_URLS: text }).gateways.map(gatewayHostOf);
  const all = ['gateway.example', 'old.example', 'older.example:8443'];
  expect(hosts()).toEqual(['gateway.example']);
  expect(hosts(['https://old.example/x/', 'https://older.example:8443'])).toEqual(all);
  expect(hosts(undefined, ' https://old.example , https://older.example:8443,')).toEqual(all);
});

describe('what is wrong', () => {
  const shown = (error: Error): string => inspect(error, { depth: null, showHidden: true });

  it('is reported all at once, as a list', () => {
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
    expect(error.problems.map(({ option, variable }) => `${option} ${variable}`)).toEqual([
      'dialect PAYMENT_DIALECT',
      'baseUrl PAYMENT_BASE_URL',
      'clientSecret PAYMENT_CLIENT_SECRET',
      'timeoutMs PAYMENT_TIMEOUT_MS',
      'luhn PAYMENT_LUHN',
    ]);
    expect(error.message.split('\n')).toHaveLength(6);
    expect(error.code).toBe('PAYMENT_CONFIGURATION');
    expect(inspect(error)).toBe(`PaymentConfigurationError: ${error.message}`);
    expect(named(() => resolveSettings({}, { name: 'eu' }, REQUIRED_VARIABLES))).toEqual([
      'signer',
      'baseUrl (PAYMENT_EU_BASE_URL)',
      'merchantId (PAYMENT_EU_MERCHANT_ID)',
      'clientId (PAYMENT_EU_CLIENT_ID)',
      'clientSecret (PAYMENT_EU_CLIENT_SECRET)',
      'publicUrl (PAYMENT_EU_PUBLIC_URL)',
    ]);
  });

  it('is reported together with what was found elsewhere', () => {
    const other = { option: 'name', variable: null, message: 'is used twice' };
    const run = (): PaymentSettings => resolveSettings({ ...REQUIRED_OPTIONS, luhn: 'x' as never }, {}, {}, [other]);
    expect(named(run)).toEqual(['luhn (PAYMENT_LUHN)', 'name']);
    expect(named(() => resolveSettings(REQUIRED_OPTIONS, {}, {}, [other]))).toEqual(['name']);
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
    expect([error.message, String(error), error.stack, JSON.stringify(error), shown(error)].join()).not.toContain(
      'hidden-',
    );
    expect(error.cause).toBeUndefined();
    // Also a stray % in the address of a store, beside everything else.
    const stray = { PAYMENT_STORE_URL: 'mysql://ada:hidden-50%@db/shop', PAYMENT_LUHN: 'zzz' };
    const refused = refusal(() => resolve({}, stray));
    expect(refused.problems.map(({ variable }) => variable)).toEqual(['PAYMENT_STORE_URL', 'PAYMENT_LUHN']);
    expect(shown(refused)).not.toContain('hidden-');
  });
});
