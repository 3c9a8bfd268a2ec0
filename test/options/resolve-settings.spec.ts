import { inspect } from 'node:util';
import { PaymentConfigurationError } from '../../lib/errors/payment-configuration.error.js';
import { morposDialect } from '../../lib/gateway/dialects/morpos.dialect.js';
import type { PaymentOptions, PaymentStructure } from '../../lib/options/payment-options.js';
import type { PaymentSettings } from '../../lib/options/payment-settings.js';
import { resolveSettings, variablePrefix } from '../../lib/options/resolve-settings.js';
import type { PaymentStore } from '../../lib/store/payment-store.js';

type Environment = Record<string, string | undefined>;

const REQUIRED: PaymentOptions = {
  baseUrl: 'https://gateway.example',
  merchantId: 'M-1',
  clientId: 'client-1',
  clientSecret: 'secret-1',
  publicUrl: 'https://shop.example',
  signer: () => 'S',
};
const REQUIRED_VARIABLES: Environment = {
  PAYMENT_BASE_URL: 'https://gateway.example',
  PAYMENT_MERCHANT_ID: 'M-1',
  PAYMENT_CLIENT_ID: 'client-1',
  PAYMENT_CLIENT_SECRET: 'secret-1',
  PAYMENT_PUBLIC_URL: 'https://shop.example',
  PAYMENT_DIALECT: 'morpos',
  PAYMENT_API_KEY: 'key-1',
};

function resolve(
  options: object = {},
  environment: Environment = {},
  structure: PaymentStructure = {},
  base: PaymentOptions = REQUIRED,
): PaymentSettings {
  return resolveSettings({ ...base, ...options }, structure, environment);
}

function refusal(run: () => unknown): PaymentConfigurationError {
  try {
    run();
  } catch (error) {
    if (error instanceof PaymentConfigurationError) return error;
    throw error;
  }
  throw new Error('not refused');
}

/** `option (variable)` of every problem. */
function named(run: () => unknown): string[] {
  return refusal(run).problems.map(({ option, variable }) => (variable ? `${option} (${variable})` : option));
}

/** Every option with a variable: how it is found in the settings, its default, a good text and value, and one that is wrong. */
const TABLE: [
  option: keyof PaymentOptions,
  variable: string,
  read: (settings: PaymentSettings) => unknown,
  fallback: unknown,
  text: string,
  value: unknown,
  wrong: string[],
][] = [
  ['baseUrl', 'BASE_URL', (s) => s.baseUrl, undefined, 'https://a.example/x', 'https://a.example/x', ['ftp://zzz']],
  ['merchantId', 'MERCHANT_ID', (s) => s.credentials.merchantId, undefined, 'm', 'm', ['zzz\n']],
  ['clientId', 'CLIENT_ID', (s) => s.credentials.clientId, undefined, 'c d', 'c d', [' zzz', 'zzzç']],
  ['clientSecret', 'CLIENT_SECRET', (s) => s.credentials.clientSecret, undefined, 's=', 's=', ['zzz ', 'zzz\r\nx: y']],
  ['apiKey', 'API_KEY', (s) => s.credentials.apiKey, null, 'k', 'k', ['  ']],
  ['dialect', 'DIALECT', (s) => s.dialect.name, 'standard', 'standard', 'standard', ['zzz', 'Standard']],
  ['scope', 'SCOPE', (s) => s.credentials.scope, 'pf_write', 'pf_write pf_read', 'pf_write pf_read', ['zzz\t']],
  ['grantType', 'GRANT_TYPE', (s) => s.credentials.grantType, 'client_credentials', 'g', 'g', ['zzz ']],
  ['language', 'LANGUAGE', (s) => s.language, 'tr', 'en', 'en', [' ']],
  [
    'timeoutMs',
    'TIMEOUT_MS',
    (s) => s.timeoutMs,
    60_000,
    '5000',
    5_000,
    ['0', '-1', '1.5', '1e3', 'zzz', '2147483648'],
  ],
  ['connectTimeoutMs', 'CONNECT_TIMEOUT_MS', (s) => s.connectTimeoutMs, 10_000, ' 1 ', 1, ['0', '0x10', 'zzz']],
  ['keepAliveMs', 'KEEP_ALIVE_MS', (s) => s.keepAliveMs, 4_000, '0', 0, ['-1', 'zzz']],
  ['publicUrl', 'PUBLIC_URL', (s) => s.publicUrl, undefined, 'https://s.example', 'https://s.example', ['http://zzz']],
  ['callbackUrl', 'CALLBACK_URL', (s) => s.callbackUrl, null, 'https://s.example/p', 'https://s.example/p', ['zzz']],
  [
    'returnUrl',
    'RETURN_URL',
    (s) => s.returnUrl,
    null,
    'https://s.example/{token}',
    'https://s.example/{token}',
    ['zzz'],
  ],
  [
    'failUrl',
    'FAIL_URL',
    (s) => s.failUrl,
    null,
    'https://s.example/?t={token}',
    'https://s.example/?t={token}',
    ['/zzz'],
  ],
  ['successUrl', 'SUCCESS_URL', (s) => s.successUrl, null, '/thanks', '/thanks', ['zzz', '//zzz', '/\\zzz', '/\t/zzz']],
  [
    'failureUrl',
    'FAILURE_URL',
    (s) => s.failureUrl,
    null,
    'http://s.example/a?b=c',
    'http://s.example/a?b=c',
    ['ftp://z'],
  ],
  ['pendingUrl', 'PENDING_URL', (s) => s.pendingUrl, null, '/', '/', ['javascript:zzz()', 'https://u:p@zzz']],
  ['sessionTtlMs', 'SESSION_TTL_MS', (s) => s.sessionTtlMs, 3_600_000, '1', 1, ['0', 'zzz']],
  [
    'storeUrl',
    'STORE_URL',
    (s) => s.storeUrl,
    'memory:',
    'sqlite:f.db',
    'sqlite:f.db',
    ['mysql://zzz', 'memory:zzz', 'sqlite:'],
  ],
  ['retentionMs', 'RETENTION_MS', (s) => s.retentionMs, 86_400_000, '31536000000', 31_536_000_000, ['-1', 'zzz']],
  ['background', 'BACKGROUND', (s) => s.background, true, 'false', false, ['zzz', 'no']],
  ['amountFormat', 'AMOUNT_FORMAT', (s) => s.amountFormat, 'fixed', 'shortest', 'shortest', ['zzz']],
  ['dateOrder', 'DATE_ORDER', (s) => s.dateOrder, 'dmy', 'mdy', 'mdy', ['ymd']],
  ['luhn', 'LUHN', (s) => s.luhn, true, 'FALSE', false, ['zzz', '2']],
  ['verifyAmount', 'VERIFY_AMOUNT', (s) => s.verifyAmount, 'notLess', 'exact', 'exact', ['zzz', 'notless']],
  ['verifySign', 'VERIFY_SIGN', (s) => s.verifySign, false, '0', false, ['zzz']],
];

describe.each(TABLE)('%s', (option, suffix, read, fallback, text, value, wrong) => {
  const variable = `PAYMENT_${suffix}`;
  const without = { [option]: undefined };

  it('is what is given, whatever the variable says', () => {
    expect(read(resolve({ [option]: value }, { [variable]: 'zzz' }))).toBe(value);
  });

  it('is the variable where nothing is given', () => {
    expect(read(resolve(without, { [variable]: text }))).toBe(value);
    expect(read(resolve({ [option]: null }, { [variable]: text }))).toBe(value);
  });

  it('has its default where neither is there, or the variable is empty', () => {
    for (const environment of [{}, { [variable]: '' }, { [variable]: undefined }]) {
      if (fallback !== undefined) expect(read(resolve(without, environment))).toBe(fallback);
      else expect(named(() => resolve(without, environment))).toEqual([`${option} (${variable})`]);
    }
  });

  it('is refused where it is wrong, named with its variable, its value untold', () => {
    for (const bad of wrong) {
      for (const run of [() => resolve(without, { [variable]: bad }), () => resolve({ [option]: bad })]) {
        const error = refusal(run);
        expect(error.problems).toEqual([{ option, variable, message: expect.any(String) as string }]);
        expect(error.message).toContain(`${option} (${variable})`);
        expect(inspect(error) + JSON.stringify(error)).not.toContain('zzz');
      }
    }
  });

  it('is refused in code where it is of another type', () => {
    for (const bad of [Symbol('zzz'), 1n, '', typeof value === 'string' ? 7 : String(value)]) {
      expect(named(() => resolve({ [option]: bad }))).toEqual([`${option} (${variable})`]);
    }
  });
});

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
    const halved = { ...morposDialect(), sign: undefined, paths: undefined, codes: null };
    const error = refusal(() => resolve({ dialect: halved }));
    expect(error.problems).toEqual([
      { option: 'dialect', variable: null, message: 'is no GatewayDialect: it lacks sign, paths, codes' },
    ]);
    expect(named(() => resolve({ dialect: {} }))).toEqual(['dialect']);
    expect(named(() => resolve({ dialect: morposDialect }))).toEqual(['dialect (PAYMENT_DIALECT)']);
  });

  it('must be able to verify signs where that is asked for', () => {
    expect(named(() => resolve({ verifySign: true }))).toEqual(['verifySign (PAYMENT_VERIFY_SIGN)']);
    expect(resolve({}, { ...REQUIRED_VARIABLES, PAYMENT_VERIFY_SIGN: 'true' }, {}, {}).verifySign).toBe(true);
  });
});

describe('what is given in code alone', () => {
  it('is kept', () => {
    const store = { insert: () => null, replace: () => null } as unknown as PaymentStore;
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

describe('how long settled payments are kept', () => {
  it('is for ever, but in memory a day', () => {
    expect(resolve({ storeUrl: 'sqlite:f.db' }).retentionMs).toBeNull();
    expect(resolve({ storeUrl: 'sqlite:f.db', retentionMs: 0 }).retentionMs).toBeNull();
    expect(resolve({ storeUrl: 'sqlite:f.db', retentionMs: 5 }).retentionMs).toBe(5);
    expect(resolve({ storeUrl: 'memory:', retentionMs: 5 }).retentionMs).toBe(5);
    expect(resolve().retentionMs).toBe(86_400_000);
  });

  it.each([
    'memory:',
    'sqlite:a.db',
    'sqlite::memory:',
    'postgres://u:p@h/d',
    'postgresql://h/d',
    'redis://h',
    'rediss://h',
  ])('%s is a store', (storeUrl) => {
    expect(resolve({ storeUrl }).storeUrl).toBe(storeUrl);
  });
});

it('a time may be as long as a timer of Node can be', () => {
  expect(resolve({ timeoutMs: 2_147_483_647 }).timeoutMs).toBe(2_147_483_647);
});

describe('the environment alone', () => {
  it('is enough', () => {
    expect(resolveSettings({}, {}, REQUIRED_VARIABLES)).toMatchObject({
      account: 'default',
      baseUrl: 'https://gateway.example',
      credentials: { merchantId: 'M-1', clientId: 'client-1', clientSecret: 'secret-1', apiKey: 'key-1' },
    });
  });

  it.each(['true', 'TRUE', ' true ', '1'])('%j is true', (text) => {
    expect(resolve({}, { PAYMENT_LUHN: text }).luhn).toBe(true);
  });
});

describe('a further account', () => {
  const own = Object.fromEntries(
    Object.entries(REQUIRED_VARIABLES).map(([name, value]) => [name.replace('PAYMENT_', 'PAYMENT_EU_SHOP_2_'), value]),
  );

  it.each([
    [undefined, 'PAYMENT_'],
    ['eu', 'PAYMENT_EU_'],
    ['eu-shop_2', 'PAYMENT_EU_SHOP_2_'],
    ['second', 'PAYMENT_SECOND_'],
  ])('%s reads %s…', (name, prefix) => {
    expect(variablePrefix(name)).toBe(prefix);
  });

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

  it.each(['', ' ', 'a b', 'a/b', ':a', '*', '-a', 'müşteri', 'a.b', 'a:b'])('cannot be named %j', (name) => {
    expect(named(() => resolve({}, {}, { name }))).toEqual(['name']);
  });
});

describe('what is wrong', () => {
  it('is told all at once', () => {
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

  it('is told together with what was found elsewhere', () => {
    const other = { option: 'name', variable: null, message: 'is used twice' };
    const run = (): PaymentSettings => resolveSettings({ ...REQUIRED, luhn: 'x' as never }, {}, {}, [other]);
    expect(named(run)).toEqual(['luhn (PAYMENT_LUHN)', 'name']);
    expect(named(() => resolveSettings(REQUIRED, {}, {}, [other]))).toEqual(['name']);
  });

  it('is an option that is none', () => {
    expect(named(() => resolve({ baseURL: 'zzz', luhnCheck: false }))).toEqual(['baseURL', 'luhnCheck']);
    expect(named(() => resolve({ constructor: 'zzz' }))).toEqual(['constructor']);
  });

  it.each([-1, 1.5, NaN, Infinity, 2 ** 31])('names a callback.waitMs that no timer takes (%p)', (waitMs) => {
    expect(named(() => resolve({}, {}, { callback: { waitMs } }))).toEqual(['callback.waitMs']);
  });

  it('is told without any value, in no way of looking at the error', () => {
    const secrets = {
      baseUrl: 'http://hidden-base.example',
      merchantId: ' hidden-merchant',
      clientId: 'hidden-client\n',
      clientSecret: 'hidden-secret\n',
      apiKey: ['hidden-key'],
      scope: 'hidden-scope\t',
      publicUrl: 'https://hidden-user:hidden-password@shop.example',
      storeUrl: 'mysql://hidden-user:hidden-password@db',
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
