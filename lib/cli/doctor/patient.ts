import { readOptions, type Environment, type ReadOptions } from '../../options/read-options.js';
import { isSimulatorMeant } from '../../options/simulator-setting.js';
import { isLoopback } from '../../options/url-checks.js';
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

/** Whether the gateway is the simulator inside the application, which nobody else can ask. */
export function isEmbeddedSimulator({ account, environment }: Patient): boolean {
  return isSimulatorMeant({}, environment, account);
}

/** Whether the gateway is on this machine: a simulator. */
export function isLocalGateway(patient: Patient): boolean {
  const url = gatewayOf(patient);
  return url !== null && isLoopback(url.hostname);
}

/** The gateway's address; null where it is not set, wrong, or the simulator inside the application. */
export function gatewayOf({ values: { baseUrl } }: Patient): URL | null {
  return baseUrl !== undefined && /^https?:/.test(baseUrl) ? new URL(baseUrl) : null;
}
