import { type ConfigurationProblem, PaymentConfigurationError } from '../errors/payment-errors.js';
import { dialectProblem, DIALECTS } from './dialects.js';
import type { GatewayDialect } from '../gateway/gateway-dialect.js';
import { DEFAULT_ACCOUNT, variableOf } from '../payment/account.js';
import { MAX_TIMER_MS } from '../runtime/clock.js';
import { gatewayIdOf } from '../payment/gateway-id.js';
import { withHidden } from '../runtime/hidden.js';
import { STORE_URL_FORMS } from '../store/store-url.js';
import { OPTIONS, type OptionValues } from './option-table.js';
import type { PaymentOptions, PaymentStructure } from './payment-options.js';
import { type Environment, type PaymentSettings, readOptions, type ReadOptions } from './payment-settings.js';
import { nearest, settingHints } from './setting-hints.js';
import { isSimulatorMeant, SIMULATOR_OPTIONS, simulatorProblems } from './simulator-setting.js';

const DEFAULT_SCOPE = 'pf_write';
const MEMORY_RETENTION_MS = 86_400_000;
/** The name becomes part of variables, routes and keys in stores. */
const ACCOUNT_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;
const OPTION_NAMES = Object.keys(OPTIONS);
const STRUCTURE = ['callback', 'isGlobal', 'name'];

/**
 * Makes the settings from the options in code, the variables and the defaults.
 * @param otherProblems problems found elsewhere, to be reported in the same error
 * @throws PaymentConfigurationError naming every setting that is wrong or missing
 */
export function resolveSettings(
  options: PaymentOptions,
  structure: PaymentStructure,
  environment: Environment,
  otherProblems: readonly ConfigurationProblem[] = [],
): PaymentSettings {
  const account = structure.name ?? DEFAULT_ACCOUNT;
  const isSimulated = isSimulatorMeant(options, environment, account);
  const read = readOptions(isSimulated ? { ...options, ...SIMULATOR_OPTIONS } : options, environment, account);
  const { dialect, problems: dialectProblems } = chooseDialect(read.values);
  const optionProblems = [
    ...read.problems,
    ...dialectProblems,
    ...ruleProblems(read.values, dialect, account, structure, isSimulated),
    // What the simulator lacks is said first: no payment is to be kept.
    ...(isSimulated
      ? simulatorProblems(read.values, environment, account)
      : storeProblems(options, environment, account)),
  ];
  const problems = [
    ...optionProblems.sort((a, b) => OPTION_NAMES.indexOf(a.option) - OPTION_NAMES.indexOf(b.option)),
    ...structureProblems(structure),
    ...unknownOptions(options),
    ...otherProblems,
  ];
  if (problems.length > 0 || dialect === null) {
    throw new PaymentConfigurationError(problems, settingHints(problems, options, environment, account));
  }

  const {
    merchantId,
    clientId,
    clientSecret,
    apiKey,
    scope,
    grantType,
    signer: _signer,
    store,
    storeUrl,
    dispatcher,
    formerBaseUrls,
    ...others
  } = read.values as OptionValues;
  const isInMemory = store === null && storeUrl === 'memory:';
  const credentials = {
    merchantId,
    clientId,
    clientSecret,
    apiKey,
    scope: scope ?? dialect.defaultScope ?? DEFAULT_SCOPE,
    grantType,
  };
  const retentionMs = others.retentionMs || (isInMemory ? MEMORY_RETENTION_MS : null);
  const gateways = gatewaysOf(dialect.name, { baseUrl: others.baseUrl, merchantId, formerBaseUrls });
  // The given store, dispatcher or dialect may hold passwords and keys.
  return withHidden(
    { ...others, gateways, account, retentionMs, maxInFlight: others.maxInFlight || null },
    { dialect, credentials, store, storeUrl, dispatcher },
  );
}

/** The id of an account's gateway, then those that it had at its former addresses. */
function gatewaysOf(
  dialect: string,
  { baseUrl, merchantId, formerBaseUrls }: Pick<OptionValues, 'baseUrl' | 'merchantId' | 'formerBaseUrls'>,
): PaymentSettings['gateways'] {
  const gatewayAt = (address: string): string => gatewayIdOf({ dialect, baseUrl: address, merchantId });
  return [gatewayAt(baseUrl), ...formerBaseUrls.map(gatewayAt)];
}

function structureProblems({ name, callback }: PaymentStructure): ConfigurationProblem[] {
  const problems: ConfigurationProblem[] = [];
  if (name !== undefined && !ACCOUNT_NAME.test(name)) {
    const message = 'must begin with a letter or digit and hold only letters, digits, - and _';
    problems.push({ option: 'name', variable: null, message });
  }
  const waitMs = callback ? callback.waitMs : undefined;
  if (waitMs !== undefined && !(Number.isInteger(waitMs) && waitMs >= 0 && waitMs <= MAX_TIMER_MS)) {
    const message = `must be a whole number from 0 to ${MAX_TIMER_MS}`;
    problems.push({ option: 'callback.waitMs', variable: null, message });
  }
  return problems;
}

function unknownOptions(options: PaymentOptions): ConfigurationProblem[] {
  const unknown = Object.keys(options).filter((name) => !Object.hasOwn(OPTIONS, name));
  return unknown.map((option) => ({ option, variable: null, message: unknownText(option) }));
}

function unknownText(option: string): string {
  if (STRUCTURE.includes(option))
    return 'shapes the module: put it beside useFactory, not into what useFactory returns';
  const meant = nearest(option, [...OPTION_NAMES, ...STRUCTURE]);
  return meant === null ? 'is not an option' : `is not an option: did you mean ${meant}?`;
}

/** In production nobody may find out by a restart that payments were kept in memory. */
function storeProblems(options: PaymentOptions, environment: Environment, account: string): ConfigurationProblem[] {
  const variable = variableOf(account, 'storeUrl');
  const isNamed = options.store ?? options.storeUrl ?? (environment[variable] || null);
  if (isNamed !== null || environment.NODE_ENV !== 'production') return [];
  const [memory, ...others] = STORE_URL_FORMS;
  const message = `is missing, and NODE_ENV is production: set ${others.join(', ')}; or ${memory}, which forgets at each restart`;
  return [{ option: 'storeUrl', variable, message }];
}

interface DialectChoice {
  /** Null if `dialect` or `signer` is wrong. */
  readonly dialect: GatewayDialect | null;
  readonly problems: readonly ConfigurationProblem[];
}

function chooseDialect({ dialect, signer }: ReadOptions['values']): DialectChoice {
  const refuse = (option: 'dialect' | 'signer', message: string): DialectChoice => ({
    dialect: null,
    problems: [{ option, variable: null, message }],
  });
  // One of them is wrong on its own, which is already reported.
  if (dialect === undefined || signer === undefined) return { dialect: null, problems: [] };
  if (typeof dialect === 'object') {
    const problem = dialectProblem(dialect);
    return problem === null ? { dialect, problems: [] } : refuse('dialect', problem);
  }
  const made = DIALECTS[dialect].make({ signer: signer ?? undefined });
  return 'signerProblem' in made ? refuse('signer', made.signerProblem) : { dialect: made, problems: [] };
}

/**
 * Checks the options that depend on each other or on the structure. An option that is wrong on its own is undefined
 * here and breaks no rule, since it is already reported.
 */
function ruleProblems(
  { apiKey, verifySign, publicUrl, callbackUrl }: ReadOptions['values'],
  dialect: GatewayDialect | null,
  account: string,
  { callback }: PaymentStructure,
  isSimulated: boolean,
): ConfigurationProblem[] {
  const problems: ConfigurationProblem[] = [];
  const report = (option: 'apiKey' | 'verifySign' | 'publicUrl', message: string): void =>
    void problems.push({ option, variable: variableOf(account, option), message });

  if (dialect?.requiresApiKey && apiKey === null) report('apiKey', 'is missing');
  if (dialect && !dialect.verifySign && verifySign) {
    report('verifySign', `cannot be true: the dialect "${dialect.name}" cannot verify the sign of an answer`);
  }
  if (callback !== false && publicUrl === null && callbackUrl === null && !isSimulated) {
    report('publicUrl', 'is missing (where buyers reach this application; or set callbackUrl, or callback: false)');
  }
  return problems;
}
