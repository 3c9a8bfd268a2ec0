import { readOptions, type Environment, type ReadOptions } from '../../options/read-options.js';
import { DEFAULT_ACCOUNT, variableOf } from '../../payment/account.js';

/** What is looked at: an account by its variables, and how long each check may take. */
export interface Patient {
  readonly account: string;
  /** As `PaymentModule` is given it; undefined for the unnamed account. */
  readonly name: string | undefined;
  readonly environment: Environment;
  /** Each by itself; undefined where it has a problem. */
  readonly values: ReadOptions['values'];
  readonly limitMs: number;
  /** The variable of an option. */
  readonly variable: (option: string) => string;
}

export function patientOf(account: string, environment: Environment, limitMs: number): Patient {
  return {
    account,
    name: account === DEFAULT_ACCOUNT ? undefined : account,
    environment,
    values: readOptions({}, environment, account).values,
    limitMs,
    variable: (option) => variableOf(account, option),
  };
}

/** The gateway's address; null where it is not set, wrong, or the simulator inside the application. */
export function gatewayOf({ values: { baseUrl } }: Patient): URL | null {
  return baseUrl !== undefined && /^https?:/.test(baseUrl) ? new URL(baseUrl) : null;
}
