import { type Environment, readOptions, type ReadOptions } from '../../options/read-options.js';
import { isSimulatorMeant } from '../../options/simulator-setting.js';
import { isLoopback } from '../../runtime/network.js';
import { DEFAULT_ACCOUNT, variableOf } from '../../payment/account.js';

/** What the doctor examines: an account by its variables, and how long each check may take. */
export interface DoctorTarget {
  readonly account: string;
  /** The `name` that `PaymentModule` is given; undefined for the unnamed account. */
  readonly name: string | undefined;
  readonly environment: Environment;
  /** Each option on its own; undefined if it is wrong or missing. */
  readonly values: ReadOptions['values'];
  readonly limitMs: number;
  /** The variable of an option. */
  readonly variable: (option: string) => string;
}

export function targetOf(account: string, environment: Environment, limitMs: number): DoctorTarget {
  return {
    account,
    name: account === DEFAULT_ACCOUNT ? undefined : account,
    environment,
    values: readOptions({}, environment, account).values,
    limitMs,
    variable: (option) => variableOf(account, option),
  };
}

/** Whether the gateway is the simulator inside the application, which no other process can reach. */
export function isEmbeddedSimulator({ account, environment }: DoctorTarget): boolean {
  return isSimulatorMeant({}, environment, account);
}

/** Whether the gateway is on this machine: a simulator. */
export function isLocalGateway(target: DoctorTarget): boolean {
  const url = gatewayOf(target);
  return url !== null && isLoopback(url.hostname);
}

/** The gateway's address; null if it is not set, wrong, or the simulator inside the application. */
export function gatewayOf({ values: { baseUrl } }: DoctorTarget): URL | null {
  return baseUrl !== undefined && /^https?:/.test(baseUrl) ? new URL(baseUrl) : null;
}

export type FindingStatus = 'ok' | 'failed' | 'skipped';

/** The result of one check: a line of the report. */
export interface Finding {
  readonly check: CheckName;
  readonly status: FindingStatus;
  readonly message: string;
  /** What to do; null if there is nothing to do. */
  readonly advice: string | null;
}

/** The checks in the order of the report. */
export const CHECK_NAMES = [
  'environment',
  'settings',
  'variables',
  'store',
  'gateway',
  'clock',
  'credentials',
  'callback',
] as const;

export type CheckName = (typeof CHECK_NAMES)[number];

export function ok(check: CheckName, message: string, advice: string | null = null): Finding {
  return { check, status: 'ok', message, advice };
}

export function failed(check: CheckName, message: string, advice: string | null): Finding {
  return { check, status: 'failed', message, advice };
}

export function skipped(check: CheckName, message: string, advice: string | null = null): Finding {
  return { check, status: 'skipped', message, advice };
}
