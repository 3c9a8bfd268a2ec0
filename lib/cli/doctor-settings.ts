import { PaymentConfigurationError } from '../errors/payment-errors.js';
import type { GatewayDialect } from '../gateway/gateway-dialect.js';
import { type Environment, type PaymentSettings, readOptions, type ReadOptions } from '../options/payment-settings.js';
import { resolveSettings } from '../options/resolve-settings.js';
import { isSimulatorMeant } from '../options/simulator-setting.js';
import { nearMisses, unprotectedStoreText } from '../options/setting-hints.js';
import { DEFAULT_ACCOUNT, variableOf, variablePrefix } from '../payment/account.js';
import { isLoopback } from '../runtime/network.js';
import { TimeoutError } from '../runtime/clock.js';
import type { PaymentStore } from '../store/payment-store.js';
import { shownUrl } from '../store/store-url.js';
import { engineOfUrl } from '../store/sql/engines.js';
import { CommandFailedError } from './command.js';
import { withinTime } from './doctor-requests.js';
import { openExisting, StderrLogger } from './open-account.js';

const IN_CODE = 'Options that your application sets in code cannot be seen from here.';
const READ_ONLY = 'Is it a replica, or may its user only read?';
const SIMULATED =
  'complete: the simulator inside the application, with a dialect and credentials of its own, which can refund and void payments';

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

/** What a check found: a line of the report. */
export interface Finding {
  readonly status: 'ok' | 'failed' | 'skipped';
  readonly message: string;
  /** What to do; null if there is nothing to do. */
  readonly advice: string | null;
}

type MakeFinding = (message: string, advice?: string | null) => Finding;

export const ok: MakeFinding = (message, advice = null) => ({ status: 'ok', message, advice });
export const failed: MakeFinding = (message, advice = null) => ({ status: 'failed', message, advice });
export const skipped: MakeFinding = (message, advice = null) => ({ status: 'skipped', message, advice });

export interface CheckedSettings {
  /** Null if there is a problem. */
  readonly settings: PaymentSettings | null;
  readonly findings: readonly Finding[];
}

/** Reports every setting that is wrong or missing, as the application would when it starts. */
export function checkSettings({ account, name, environment, variable, isSimulated }: DoctorTarget): CheckedSettings {
  // A signer can be given in code only. Where the dialect is not named, it is more likely that none is.
  const signer = environment[variable('dialect')] === 'standard' && !isSimulated ? () => '' : undefined;
  try {
    const settings = resolveSettings({ background: false, signer }, { name }, environment);
    if (isSimulated) return { settings, findings: [ok(SIMULATED)] };
    const note = signer ? 'The dialect "standard" also needs a signer, in code.' : null;
    const { name: dialect } = settings.dialect;
    const complete = `complete, dialect ${dialect}, which can ${moneyBackOf(settings.dialect)}`;
    return { settings, findings: [ok(complete, note)] };
  } catch (error) {
    if (!(error instanceof PaymentConfigurationError)) throw error;
    const mistyped = nearMisses(environment, [account]).map(({ text }) => text);
    const advice = [...error.hints.filter((hint) => !mistyped.includes(hint)), IN_CODE].join(' ');
    const findings = error.problems.map(({ option, variable, message }, index) => {
      const isLast = index === error.problems.length - 1;
      return failed(`${option}${variable ? ` (${variable})` : ''} ${message}`, isLast ? advice : null);
    });
    return { settings: null, findings };
  }
}

function moneyBackOf({ operations }: GatewayDialect): string {
  const { refund, void: callOff } = operations;
  if (refund) return callOff ? 'refund and void payments' : 'refund payments, not void them';
  return callOff ? 'void payments, not refund them' : 'neither refund nor void payments';
}

/** Names the file that variables were read from. */
export function checkEnvironment({ account, environment }: DoctorTarget, file: string | null): Finding {
  const prefix = variablePrefix(account);
  const count = Object.keys(environment).filter((variable) => variable.startsWith(prefix)).length;
  const variables = `${count} variables begin with ${prefix}`;
  if (file !== null) return ok(`${file} was read; ${variables}`);
  return skipped(
    `there is no file .env in this folder; ${variables}`,
    'If your application reads another file, name it: --env FILE.',
  );
}

/** Reports mistyped variables. */
export function checkVariables({ account, environment }: DoctorTarget): readonly Finding[] {
  const misses = nearMisses(environment, [account]);
  if (misses.length === 0) return [ok('none is mistyped')];
  return misses.map(({ text, meant }) => failed(text, `Rename it to ${meant}.`));
}

export interface CheckedStore {
  /** The open store; null if it could not be opened. */
  readonly store: PaymentStore | null;
  /** Whether it has a clock of its own, not this process's. */
  readonly hasOwnTime: boolean;
  readonly findings: readonly Finding[];
}

const NO_STORE: CheckedStore = { store: null, hasOwnTime: false, findings: [] };

/** Checks that the store exists, answers, and has the schema of this release. It creates and migrates nothing. */
export async function checkStore(target: DoctorTarget): Promise<CheckedStore> {
  const { values, variable, environment } = target;
  const { findings, ...checked } = await openedStore(target);
  const warning = values.storeUrl && unprotectedStoreText(values.storeUrl, variable('storeUrl'), environment);
  return { ...checked, findings: warning ? [...findings, skipped(warning)] : findings };
}

async function openedStore({ values: { storeUrl }, variable, limitMs }: DoctorTarget): Promise<CheckedStore> {
  const name = variable('storeUrl');
  if (storeUrl === undefined) {
    return { ...NO_STORE, findings: [skipped(`not tried: ${name} is wrong`)] };
  }
  if (storeUrl === 'memory:') {
    const advice = `Set ${name} before you take real payments.`;
    return { ...NO_STORE, findings: [skipped('payments are kept in memory: a restart loses them', advice)] };
  }
  // Each is about a setting that can lose payments.
  const warnings: string[] = [];
  new StderrLogger((warning) => warnings.push(warning)).use();
  try {
    const store = await withinTime(limitMs, () => openExisting(storeUrl, name));
    const isWritable = await withinTime(limitMs, () => canWrite(store));
    const good = isWritable
      ? ok(`${shownUrl(storeUrl)} answers, and its schema is right`)
      : failed(`${shownUrl(storeUrl)} answers, but cannot be written`, READ_ONLY);
    return {
      store,
      hasOwnTime: engineOfUrl(storeUrl)?.time !== null,
      findings: [good, ...warnings.map((warning) => failed(warning, null))],
    };
  } catch (error) {
    if (error instanceof TimeoutError) {
      const advice = `Is it running, and can this machine reach it? See ${name}.`;
      return { ...NO_STORE, findings: [failed(`${shownUrl(storeUrl)} does not answer`, advice)] };
    }
    if (!(error instanceof CommandFailedError)) throw error;
    const advice = 'If the store does not exist yet, the application creates it when it starts.';
    return { ...NO_STORE, findings: [failed(error.message, advice)] };
  } finally {
    new StderrLogger().use();
  }
}

/** Whether a database takes a write, of which nothing is left. */
function canWrite(store: PaymentStore): Promise<boolean> {
  return store.acknowledge(DEFAULT_ACCOUNT, 'no-such-handler', 'none:1-failed').then(
    () => true,
    () => false,
  );
}
