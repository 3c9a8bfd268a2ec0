import { baseUrlProblem } from '../options/url-checks.js';
import { DEFAULT_ACCOUNT } from '../payment/account.js';
import { type Call, listOf, type Run, UsageError, wholeNumber } from './command.js';
import { checkCallbackAddress } from './doctor-callback.js';
import { checkClock, checkGateway } from './doctor-gateway.js';
import { withinTime } from './doctor-requests.js';
import {
  checkEnvironment,
  type CheckName,
  checkSettings,
  checkStore,
  checkVariables,
  type DoctorTarget,
  type Finding,
  NO_STORE,
  targetOf,
} from './doctor-settings.js';
import { escaped } from './layout.js';

const MARKS: Readonly<Record<Finding['status'], string>> = { ok: '✓', failed: '✗', skipped: '–' };
const CLOSE_LIMIT_MS = 2_000;
/** The checks in the order of the report. */
const CHECKS: readonly CheckName[] = [
  'environment',
  'settings',
  'variables',
  'store',
  'gateway',
  'clock',
  'credentials',
  'callback',
];

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

async function examine(target: DoctorTarget, call: Call, skip: readonly string[]): Promise<readonly Finding[]> {
  const isWanted = (check: CheckName): boolean => !skip.includes(check);
  const { settings, findings } = checkSettings(target);
  const [checked, asked, address] = await Promise.all([
    isWanted('store') || isWanted('clock') ? checkStore(target) : NO_STORE,
    checkGateway(target, isWanted('credentials') ? settings : null),
    isWanted('callback') ? checkCallbackAddress(target, call.options.callback) : [],
  ]);
  const clock = isWanted('clock')
    ? await checkClock(target, asked.clock, checked.hasOwnTime ? checked.store : null)
    : [];
  await withinTime(CLOSE_LIMIT_MS, async () => checked.store?.close()).catch(() => undefined);
  return [
    checkEnvironment(target, call.environmentFile),
    ...findings,
    ...checkVariables(target),
    ...checked.findings,
    asked.gateway,
    ...clock,
    asked.credentials,
    address,
  ]
    .flat()
    .filter(({ check }) => isWanted(check));
}

function lineOf({ check, status, message, advice }: Finding): string {
  const stop = /[.?!]$/.test(message) ? '' : '.';
  return escaped(`${MARKS[status]} ${check.padEnd(12)} ${message}${advice === null ? '' : `${stop} ${advice}`}`);
}

function skippedBy({ options }: Call): readonly string[] {
  const names = listOf(options.skip);
  const unknown = names.find((name) => !(CHECKS as readonly string[]).includes(name));
  if (unknown === undefined) return names;
  throw new UsageError(`--skip: there is no check "${unknown}", only ${CHECKS.join(', ')}.`);
}
