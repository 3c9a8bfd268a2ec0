import { type ConfigurationProblem, PaymentConfigurationError } from '../errors/payment-errors.js';
import { DEFAULT_ACCOUNT } from '../payment/account.js';
import { withHidden } from '../payment/hidden.js';
import { MAX_TIMER_MS } from './option-kinds.js';
import { chooseDialect, ruleProblems } from './option-rules.js';
import { OPTIONS, type OptionValues } from './option-table.js';
import type { PaymentOptions, PaymentStructure } from './payment-options.js';
import type { PaymentSettings } from './payment-settings.js';
import { type Environment, readOptions } from './read-options.js';
import { settingHints } from './setting-hints.js';
import { isSimulatorMeant, SIMULATOR_OPTIONS, simulatorProblems } from './simulator-setting.js';

const DEFAULT_SCOPE = 'pf_write';
const MEMORY_RETENTION_MS = 86_400_000;
/** It becomes part of variables, routes and keys in stores. */
const ACCOUNT_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;
const OPTION_NAMES = Object.keys(OPTIONS);
const STRUCTURE = ['callback', 'isGlobal', 'name'];
const NO_OPTION = 'is not an option';

/**
 * Options, then variables, then defaults.
 * @param otherProblems found elsewhere, to be reported in the same error
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
  const choice = chooseDialect(read.values);
  const { dialect } = choice;
  const ofOptions = [
    ...read.problems,
    ...choice.problems,
    ...ruleProblems(read.values, dialect, account, structure, isSimulated),
    ...(isSimulated ? simulatorProblems(read.values, environment, account) : []),
  ];
  const problems = [
    ...ofOptions.sort((a, b) => OPTION_NAMES.indexOf(a.option) - OPTION_NAMES.indexOf(b.option)),
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
  // A store or dispatcher of the host's, and a dialect of its own, may hold passwords and keys.
  return withHidden({ ...others, account, retentionMs }, { dialect, credentials, store, storeUrl, dispatcher });
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

/** Usually a typing mistake. */
function unknownOptions(options: PaymentOptions): ConfigurationProblem[] {
  const unknown = Object.keys(options).filter((name) => !Object.hasOwn(OPTIONS, name));
  return unknown.map((option) => {
    const isStructure = STRUCTURE.includes(option);
    const message = isStructure ? 'shapes the module: it stands beside useFactory, not in what it returns' : NO_OPTION;
    return { option, variable: null, message };
  });
}
