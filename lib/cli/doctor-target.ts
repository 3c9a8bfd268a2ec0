import { type Environment, readOptions, type ReadOptions } from '../options/read-options.js';
import { isSimulatorMeant } from '../options/simulator-setting.js';
import { DEFAULT_ACCOUNT, variableOf } from '../payment/account.js';
import { isLoopback } from '../runtime/network.js';

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
  /** Whether the gateway is the simulator inside the application, which no other process can reach. */
  readonly isSimulated: boolean;
  /** The gateway's address; null if it is not set, wrong, or the simulator inside the application. */
  readonly gateway: URL | null;
  /** Whether the gateway is on this machine: a simulator. */
  readonly isLocal: boolean;
}

export function targetOf(account: string, environment: Environment, limitMs: number): DoctorTarget {
  const { values } = readOptions({}, environment, account);
  const { baseUrl } = values;
  const gateway = baseUrl !== undefined && /^https?:/.test(baseUrl) ? new URL(baseUrl) : null;
  return {
    account,
    name: account === DEFAULT_ACCOUNT ? undefined : account,
    environment,
    values,
    limitMs,
    variable: (option) => variableOf(account, option),
    isSimulated: isSimulatorMeant({}, environment, account),
    gateway,
    isLocal: gateway !== null && isLoopback(gateway.hostname),
  };
}

export type CheckName =
  'environment' | 'settings' | 'variables' | 'store' | 'gateway' | 'clock' | 'credentials' | 'callback';

/** The result of one check: a line of the report. */
export interface Finding {
  readonly check: CheckName;
  readonly status: 'ok' | 'failed' | 'skipped';
  readonly message: string;
  /** What to do; null if there is nothing to do. */
  readonly advice: string | null;
}

type MakeFinding = (check: CheckName, message: string, advice?: string | null) => Finding;

export const ok: MakeFinding = (check, message, advice = null) => ({ check, status: 'ok', message, advice });
export const failed: MakeFinding = (check, message, advice = null) => ({ check, status: 'failed', message, advice });
export const skipped: MakeFinding = (check, message, advice = null) => ({ check, status: 'skipped', message, advice });
