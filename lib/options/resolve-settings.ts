import { type ConfigurationProblem, PaymentConfigurationError } from '../errors/payment-configuration.error.js';
import { DIALECTS, dialectProblem, type DialectName } from '../gateway/dialects/dialects.js';
import { standardDialect } from '../gateway/dialects/standard.dialect.js';
import type { GatewayDialect } from '../gateway/gateway-dialect.js';
import { STORE_URL_FORMS, storeKindOf } from '../store/store-url.js';
import type { PaymentOptions, PaymentStructure, ResultUrl } from './payment-options.js';
import { DEFAULT_ACCOUNT, type PaymentSettings } from './payment-settings.js';
import { MAX_TIMER_MS, SettingsReader } from './settings-reader.js';
import { baseUrlProblem, callbackUrlProblem, resultUrlProblem } from './url-checks.js';

const MEMORY_RETENTION_MS = 86_400_000;
/** A hundred years. */
const MAX_RETENTION_MS = 3_155_760_000_000;
/** It stands in variables, routes and keys of stores. */
const ACCOUNT_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;
const DIALECT_NAMES = Object.keys(DIALECTS) as DialectName[];
/** Every option: what is not here is a typing mistake. */
const OPTION_NAMES: Readonly<Record<keyof PaymentOptions, true>> = {
  baseUrl: true,
  merchantId: true,
  clientId: true,
  clientSecret: true,
  apiKey: true,
  dialect: true,
  signer: true,
  scope: true,
  grantType: true,
  language: true,
  timeoutMs: true,
  connectTimeoutMs: true,
  keepAliveMs: true,
  publicUrl: true,
  callbackUrl: true,
  returnUrl: true,
  failUrl: true,
  successUrl: true,
  failureUrl: true,
  pendingUrl: true,
  sessionTtlMs: true,
  storeUrl: true,
  store: true,
  retentionMs: true,
  background: true,
  amountFormat: true,
  dateOrder: true,
  luhn: true,
  verifyAmount: true,
  verifySign: true,
  beforeAuth3d: true,
  dispatcher: true,
};

/**
 * Options, then variables, then defaults.
 * @param otherProblems found elsewhere, to be told in the same error
 * @throws PaymentConfigurationError naming every setting that is wrong or missing
 */
export function resolveSettings(
  options: PaymentOptions,
  structure: PaymentStructure,
  environment: Readonly<Record<string, string | undefined>>,
  otherProblems: readonly ConfigurationProblem[] = [],
): PaymentSettings {
  const account = structure.name ?? DEFAULT_ACCOUNT;
  const read = new SettingsReader(options, environment, variablePrefix(structure.name));
  const dialect = resolveDialect(read, options);
  const storeUrl = read.text('storeUrl', 'STORE_URL', storeUrlProblem) ?? 'memory:';

  const settings: PaymentSettings = {
    account,
    baseUrl: withoutSlash(read.required('baseUrl', 'BASE_URL', baseUrlProblem)),
    credentials: {
      merchantId: read.required('merchantId', 'MERCHANT_ID', headerProblem),
      clientId: read.required('clientId', 'CLIENT_ID', headerProblem),
      clientSecret: read.required('clientSecret', 'CLIENT_SECRET', headerProblem),
      apiKey: dialect?.requiresApiKey ? read.required('apiKey', 'API_KEY') : read.text('apiKey', 'API_KEY'),
      grantType: read.text('grantType', 'GRANT_TYPE', headerProblem) ?? 'client_credentials',
      scope: read.text('scope', 'SCOPE', headerProblem) ?? 'pf_write',
    },
    dialect: dialect ?? standardDialect({ signer: () => '' }),
    language: read.text('language', 'LANGUAGE') ?? 'tr',
    timeoutMs: read.integer('timeoutMs', 'TIMEOUT_MS', 1, 60_000),
    connectTimeoutMs: read.integer('connectTimeoutMs', 'CONNECT_TIMEOUT_MS', 1, 10_000),
    keepAliveMs: read.integer('keepAliveMs', 'KEEP_ALIVE_MS', 0, 4_000),
    publicUrl: nullable(read.text('publicUrl', 'PUBLIC_URL', baseUrlProblem), withoutSlash),
    callbackUrl: nullable(read.text('callbackUrl', 'CALLBACK_URL', baseUrlProblem), withoutSlash),
    returnUrl: read.text('returnUrl', 'RETURN_URL', callbackUrlProblem),
    failUrl: read.text('failUrl', 'FAIL_URL', callbackUrlProblem),
    successUrl: resultUrl(read, options, 'successUrl', 'SUCCESS_URL'),
    failureUrl: resultUrl(read, options, 'failureUrl', 'FAILURE_URL'),
    pendingUrl: resultUrl(read, options, 'pendingUrl', 'PENDING_URL'),
    sessionTtlMs: read.integer('sessionTtlMs', 'SESSION_TTL_MS', 1, 3_600_000),
    storeUrl,
    store: options.store ?? null,
    retentionMs: retention(
      read.integer('retentionMs', 'RETENTION_MS', 0, 0, MAX_RETENTION_MS),
      !options.store && storeUrl === 'memory:',
    ),
    background: read.flag('background', 'BACKGROUND', true),
    amountFormat: read.choice('amountFormat', 'AMOUNT_FORMAT', ['fixed', 'shortest'], 'fixed'),
    dateOrder: read.choice('dateOrder', 'DATE_ORDER', ['dmy', 'mdy'], 'dmy'),
    luhn: read.flag('luhn', 'LUHN', true),
    verifyAmount: read.choice('verifyAmount', 'VERIFY_AMOUNT', ['notLess', 'exact', 'off'], 'notLess'),
    verifySign: read.flag('verifySign', 'VERIFY_SIGN', false),
    beforeAuth3d: options.beforeAuth3d ?? null,
    dispatcher: options.dispatcher ?? null,
  };

  const hasOption = (option: keyof PaymentOptions): boolean =>
    read.problems.some((problem) => problem.option === option);
  if (
    structure.callback !== false &&
    !settings.publicUrl &&
    !settings.callbackUrl &&
    !hasOption('publicUrl') &&
    !hasOption('callbackUrl')
  ) {
    read.note(
      'publicUrl',
      `${variablePrefix(structure.name)}PUBLIC_URL`,
      'is missing (where buyers reach this application; or set callbackUrl, or callback: false)',
    );
  }
  if (settings.verifySign && dialect && !dialect.verifySign) {
    read.note(
      'verifySign',
      `${variablePrefix(structure.name)}VERIFY_SIGN`,
      `cannot be true: the dialect "${dialect.name}" cannot verify the sign of an answer`,
    );
  }
  if (structure.name !== undefined && !ACCOUNT_NAME.test(structure.name)) {
    const message = 'must begin with a letter or digit and hold only letters, digits, - and _';
    read.problems.push({ option: 'name', variable: null, message });
  }
  const waitMs = structure.callback ? structure.callback.waitMs : undefined;
  if (waitMs !== undefined && !(Number.isInteger(waitMs) && waitMs >= 0 && waitMs <= MAX_TIMER_MS)) {
    const message = `must be a whole number from 0 to ${MAX_TIMER_MS}`;
    read.problems.push({ option: 'callback.waitMs', variable: null, message });
  }
  checkCodeOnly(read, options);
  const problems = [...read.problems, ...otherProblems];
  if (problems.length > 0) throw new PaymentConfigurationError(problems);
  return settings;
}

/** `PAYMENT_`, or for a named account `PAYMENT_<NAME>_`. */
export function variablePrefix(name: string | undefined): string {
  return name === undefined ? 'PAYMENT_' : `PAYMENT_${name.replace(/[^A-Za-z0-9]/g, '_').toUpperCase()}_`;
}

function resolveDialect(read: SettingsReader<PaymentOptions>, options: PaymentOptions): GatewayDialect | null {
  if (typeof options.dialect === 'object' && options.dialect !== null) {
    const problem = dialectProblem(options.dialect);
    if (problem !== null) read.note('dialect', null, problem);
    return problem === null ? options.dialect : null;
  }
  const before = read.problems.length;
  const name = read.choice('dialect', 'DIALECT', DIALECT_NAMES, 'standard');
  if (read.problems.length > before) return null;
  if (options.signer !== undefined && typeof options.signer !== 'function') {
    read.note('signer', null, 'must be a function (fields, { operation, apiKey }) => string');
    return null;
  }
  const dialect = DIALECTS[name].make(options);
  if (!('signerProblem' in dialect)) return dialect;
  read.note('signer', null, dialect.signerProblem);
  return null;
}

function resultUrl(
  read: SettingsReader<PaymentOptions>,
  options: PaymentOptions,
  option: 'successUrl' | 'failureUrl' | 'pendingUrl',
  suffix: string,
): ResultUrl | null {
  const given = options[option];
  return typeof given === 'function' ? given : read.text(option, suffix, resultUrlProblem);
}

function checkCodeOnly(read: SettingsReader<PaymentOptions>, options: PaymentOptions): void {
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(OPTION_NAMES, name))
      read.problems.push({ option: name, variable: null, message: 'is not an option' });
  }
  const { beforeAuth3d, dispatcher, store } = options;
  if (beforeAuth3d != null && typeof beforeAuth3d !== 'function') read.note('beforeAuth3d', null, 'must be a function');
  if (dispatcher != null && typeof dispatcher.dispatch !== 'function') {
    read.note('dispatcher', null, 'must be an undici Dispatcher');
  }
  if (store != null && (typeof store.insert !== 'function' || typeof store.replace !== 'function')) {
    read.note('store', null, 'must be a PaymentStore');
  }
}

function storeUrlProblem(text: string): string | null {
  return storeKindOf(text) === null ? `must be ${STORE_URL_FORMS.join(', ')} (rediss:// with TLS)` : null;
}

/** What goes into headers. */
function headerProblem(text: string): string | null {
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text)
    ? null
    : 'must be printable ASCII without spaces around it';
}

function retention(given: number, isMemory: boolean): number | null {
  return given > 0 ? given : isMemory ? MEMORY_RETENTION_MS : null;
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

function nullable(value: string | null, change: (value: string) => string): string | null {
  return value === null ? null : change(value);
}
