import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import ts from 'typescript';
import { morposDialect } from '../../lib/gateway/dialects/morpos.dialect.js';
import { REQUIRED } from '../../lib/options/option-kinds.js';
import { type OptionName, OPTIONS } from '../../lib/options/option-table.js';
import type { PaymentOptions } from '../../lib/options/payment-options.js';
import type { Environment, PaymentSettings } from '../../lib/options/payment-settings.js';
import { variableOf } from '../../lib/payment/account.js';
import { gatewayHostOf } from '../../lib/payment/gateway-id.js';
import { MemoryPaymentStore } from '../../lib/store/memory/memory-payment-store.js';
import { named, refusal, resolve } from './resolve.js';

/**
 * Every option with a variable: how it is found in the settings, its default, a good text and value, and one that is
 * wrong.
 */
const TABLE: [
  option: OptionName,
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
    ['oracle://zzz', 'memory:zzz', 'sqlite:', 'mysql:zzz', 'mysqli://zzz', 'mariadb://'],
  ],
  ['retentionMs', 'RETENTION_MS', (s) => s.retentionMs, 86_400_000, '31536000000', 31_536_000_000, ['-1', 'zzz']],
  ['background', 'BACKGROUND', (s) => s.background, true, 'false', false, ['zzz', 'no']],
  ['binTimeoutMs', 'BIN_TIMEOUT_MS', (s) => s.binTimeoutMs, 2_000, '900', 900, ['0', '-1', '1.5', 'zzz']],
  ['maxBinChecks', 'MAX_BIN_CHECKS', (s) => s.maxBinChecks, 20, '1', 1, ['0', '-1', '2.5', 'zzz', '1000001']],
  ['maxInFlight', 'MAX_IN_FLIGHT', (s) => s.maxInFlight, 256, '100', 100, ['-1', '2.5', 'zzz', '1000001']],
  ['amountFormat', 'AMOUNT_FORMAT', (s) => s.amountFormat, 'fixed', 'shortest', 'shortest', ['zzz']],
  ['dateOrder', 'DATE_ORDER', (s) => s.dateOrder, 'dmy', 'mdy', 'mdy', ['ymd']],
  ['luhn', 'LUHN', (s) => s.luhn, true, 'FALSE', false, ['zzz', '2']],
  ['verifyAmount', 'VERIFY_AMOUNT', (s) => s.verifyAmount, 'notLess', 'exact', 'exact', ['zzz', 'notless']],
  ['verifySign', 'VERIFY_SIGN', (s) => s.verifySign, false, '0', false, ['zzz']],
  ['trustUnbound', 'TRUST_UNBOUND', (s) => s.trustUnbound, false, 'true', true, ['zzz']],
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

  it('is refused where it is wrong, named with its variable, its value not shown', () => {
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

  it.each([
    'memory:',
    'sqlite:a.db',
    'sqlite::memory:',
    'postgres://u:p@h/d',
    'postgresql://h/d',
    'mysql://h/d',
    'mariadb://h/d',
  ])('%s is a store', (storeUrl) => {
    expect(resolve({ storeUrl }).storeUrl).toBe(storeUrl);
  });
});

describe('a flag', () => {
  it.each(['true', 'TRUE', ' true ', '1'])('%j is true', (text) => {
    expect(resolve({}, { PAYMENT_LUHN: text }).luhn).toBe(true);
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

it('a time may be as long as a timer of Node can be', () => {
  expect(resolve({ timeoutMs: 2_147_483_647 }).timeoutMs).toBe(2_147_483_647);
});

/** Name, variable and default of each option; null if it has no variable, or no default to name. */
const TABLED = Object.entries(OPTIONS).map(([name, option]) => ({
  name,
  variable: option.isCodeOnly ? null : variableOf('default', name),
  default: option.default === REQUIRED ? 'required' : option.default === null ? null : String(option.default) || null,
}));

describe('the lists of options in docs/configuration.md', () => {
  const page = readFileSync('docs/configuration.md', 'utf8').split('\n## Set in code only\n')[0] ?? '';
  const rows = page.split('\n').filter((line) => line.startsWith('- `'));

  /** The default that is stated: a value, or `required`; null if it is described in words. */
  function defaultIn(stated: string): string | null {
    if (stated === 'required') return 'required';
    const [part = ''] = stated.split(',');
    const [, quoted, plain] = /^\s*(?:`([^`]+)`|([^\s`:]+))\s*(?::|$)/.exec(part) ?? [];
    return quoted ?? plain ?? null;
  }

  /** As the page says: `PAYMENT_BASE_URL` is `baseUrl`. */
  const optionOf = (variable: string): string =>
    variable
      .replace('PAYMENT_', '')
      .toLowerCase()
      .replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

  it('agrees with the code', () => {
    const described = rows.map((row) => {
      const [, named = '', stated = ''] = /^- `(\w+)` \((.*?)\): /.exec(row) ?? [];
      if (stated.startsWith('code only')) return { name: named, variable: null, default: null };
      return { name: optionOf(named), variable: named, default: defaultIn(stated) };
    });
    const byName = (a: { name: string }, b: { name: string }): number => a.name.localeCompare(b.name);
    expect(described.sort(byName)).toEqual(TABLED.sort(byName));
  });
});

describe('what an editor shows for an option', () => {
  const file = ts.sys.resolvePath('lib/options/payment-options.ts');
  const program = ts.createProgram([file], { ...tsOptions(), noEmit: true });
  const checker = program.getTypeChecker();
  const declared = program.getSourceFile(file)?.statements.filter(ts.isTypeAliasDeclaration) ?? [];
  const options = declared.find(({ name }) => name.text === 'PaymentOptions') as ts.TypeAliasDeclaration;

  it.each(TABLED)('has the variable and the default of $name', ({ name, variable, default: byDefault }) => {
    const property = checker.getTypeAtLocation(options).getProperty(name) as ts.Symbol;
    const shown = ts.displayPartsToString(property.getDocumentationComment(checker)).replace(/\s+/g, ' ');
    expect(shown).toMatch(variable === null ? /^Code only\./ : new RegExp(`^\`${variable}\`[:.]`));
    if (byDefault === 'required') expect(shown).toMatch(/ Required\.$/);
    else expect(/ Default `?([^\s`]+?)`?(?:[.,]? |\.$)/.exec(shown)?.[1] ?? null).toBe(byDefault);
  });
});

function tsOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile('tsconfig.json', (path) => ts.sys.readFile(path)) as { config: object };
  return ts.parseJsonConfigFileContent(config, ts.sys, '.').options;
}
