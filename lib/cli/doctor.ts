import { baseUrlProblem } from '../options/url-checks.js';
import { DEFAULT_ACCOUNT } from '../payment/account.js';
import { type Call, listOf, type Run, UsageError, wholeNumber } from './command.js';
import { checkCallbackAddress } from './doctor-callback.js';
import { checkClock, checkGateway } from './doctor-gateway.js';
import { withinTime } from './doctor-requests.js';
import {
  checkEnvironment,
  checkSettings,
  checkStore,
  checkVariables,
  type DoctorTarget,
  type Finding,
  targetOf,
} from './doctor-settings.js';
import { escaped } from './layout.js';

const MARKS: Readonly<Record<Finding['status'], string>> = { ok: '✓', failed: '✗', skipped: '–' };
const CLOSE_LIMIT_MS = 2_000;
/** The checks in the order of the report. */
const CHECKS = [
  'environment',
  'settings',
  'variables',
  'store',
  'gateway',
  'clock',
  'credentials',
  'callback',
] as const;

type CheckName = (typeof CHECKS)[number];
type Found = Finding | readonly Finding[];
type NamedFinding = { readonly check: CheckName } & Finding;

/** Checks a set-up, and says what to do about what is wrong. */
export const doctor: Run = async (call) => {
  const { account = DEFAULT_ACCOUNT, callback } = call.options;
  const limitMs = wholeNumber(call, 'timeout', { min: 1, max: 60, byDefault: 10 }) * 1000;
  const problem = callback === undefined ? null : baseUrlProblem(callback);
  if (problem !== null) throw new UsageError(`--callback ${problem}.`);
  const checks = await examine(targetOf(account, call.environment, limitMs), call, skippedBy(call));
  const count = checks.filter(({ status }) => status === 'failed').length;
  const verdict = count === 0 ? 'All that could be checked is right.' : `${count} of these must be fixed.`;
  return {
    text: [...checks.map(lineOf), '', verdict].join('\n'),
    json: { ok: count === 0, account, checks },
    status: count === 0 ? 0 : 1,
  };
};

async function examine(target: DoctorTarget, call: Call, skip: readonly string[]): Promise<readonly NamedFinding[]> {
  const wanted = CHECKS.filter((check) => !skip.includes(check));
  const { settings, findings } = checkSettings(target);
  // Several checks look at these; none is opened or asked unless one of them is wanted.
  const store = once(() => checkStore(target));
  const gateway = once(() => checkGateway(target, wanted.includes('credentials') ? settings : null));
  const checks: Readonly<Record<CheckName, () => Found | Promise<Found>>> = {
    environment: () => checkEnvironment(target, call.environmentFile),
    settings: () => findings,
    variables: () => checkVariables(target),
    store: async () => (await store()).findings,
    gateway: async () => (await gateway()).gateway,
    clock: async () => {
      const [asked, checked] = await Promise.all([gateway(), store()]);
      return checkClock(target, asked.clock, checked.hasOwnTime ? checked.store : null);
    },
    credentials: async () => (await gateway()).credentials,
    callback: () => checkCallbackAddress(target, call.options.callback),
  };
  const found = await Promise.all(
    wanted.map(async (check) => [await checks[check]()].flat().map((finding) => ({ check, ...finding }))),
  );
  if (wanted.includes('store') || wanted.includes('clock')) {
    await withinTime(CLOSE_LIMIT_MS, async () => (await store()).store?.close()).catch(() => undefined);
  }
  return found.flat();
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => (made ??= make());
}

function lineOf({ check, status, message, advice }: NamedFinding): string {
  const stop = /[.?!]$/.test(message) ? '' : '.';
  return escaped(`${MARKS[status]} ${check.padEnd(12)} ${message}${advice === null ? '' : `${stop} ${advice}`}`);
}

function skippedBy({ options }: Call): readonly string[] {
  const names = listOf(options.skip);
  const unknown = names.find((name) => !(CHECKS as readonly string[]).includes(name));
  if (unknown === undefined) return names;
  throw new UsageError(`--skip: there is no check "${unknown}", only ${CHECKS.join(', ')}.`);
}
