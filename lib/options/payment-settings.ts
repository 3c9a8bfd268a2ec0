import type { ConfigurationProblem } from '../errors/payment-errors.js';
import type { GatewayCredentials, GatewayDialect } from '../gateway/gateway-dialect.js';
import { variableOf } from '../payment/account.js';
import { type Option, REQUIRED } from './option-kinds.js';
import { type OptionName, OPTIONS, type OptionValues } from './option-table.js';
import type { PaymentOptions } from './payment-options.js';

/** The options that the settings take over unchanged. */
type UnchangedOptions = Omit<
  OptionValues,
  keyof GatewayCredentials | 'dialect' | 'signer' | 'retentionMs' | 'maxInFlight' | 'formerBaseUrls'
>;

/** Exists only for the type: settings are plain objects, and this class is never instantiated. */
const UnchangedSettings = class {} as unknown as abstract new () => UnchangedOptions;

/**
 * The options, checked and complete. This is a class so that it can be its own injection token. Printed, the settings
 * show no credentials and no store.
 */
export abstract class PaymentSettings extends UnchangedSettings {
  abstract readonly account: string;
  abstract readonly credentials: GatewayCredentials;
  abstract readonly dialect: GatewayDialect;
  /** The id of the gateway, then those that it had at its former addresses. */
  abstract readonly gateways: readonly [string, ...string[]];
  /** Null keeps settled payments forever. */
  abstract readonly retentionMs: number | null;
  /** Null sets no limit. */
  abstract readonly maxInFlight: number | null;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ReadOptions {
  /** Undefined for an option that is wrong or missing. */
  readonly values: { readonly [Name in OptionName]: OptionValues[Name] | undefined };
  readonly problems: readonly ConfigurationProblem[];
}

/** Reads each option on its own: from code, else from its variable, else its default. Reports all that are wrong. */
export function readOptions(options: PaymentOptions, environment: Environment, account: string): ReadOptions {
  const values: Partial<Record<OptionName, unknown>> = {};
  const problems: ConfigurationProblem[] = [];
  for (const [name, option] of Object.entries(OPTIONS) as [OptionName, Option<unknown, unknown>][]) {
    const variable = option.isCodeOnly ? null : variableOf(account, name);
    const given: unknown = options[name] ?? valueIn(environment, variable, option);
    const missing = option.default === REQUIRED ? 'is missing' : null;
    const message = given === undefined ? missing : option.problem(given);
    if (message === null) values[name] = given === undefined ? option.default : option.normalize(given);
    else problems.push({ option: name, variable, message });
  }
  return { values: values as ReadOptions['values'], problems };
}

/** An empty variable counts as not set. */
function valueIn(environment: Environment, variable: string | null, option: Option<unknown, unknown>): unknown {
  const text = variable === null ? undefined : environment[variable];
  return text ? option.parse(text) : undefined;
}
