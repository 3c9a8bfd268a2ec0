import { DEFAULT_ACCOUNT } from '../../payment/account.js';
import { baseUrlProblem } from '../../options/url-checks.js';
import { type Call, command, JSON_OPTION, SETTINGS_OPTIONS, UsageError, wholeNumber } from '../command.js';
import { checkCallbackAddress } from './callback-check.js';
import { checkClock, checkGateway } from './gateway-checks.js';
import { checkEnvironment, checkSettings, checkStore, checkVariables, NO_STORE } from './settings-checks.js';
import {
  CHECK_NAMES,
  type CheckName,
  type Finding,
  type FindingStatus,
  type DoctorTarget,
  targetOf,
} from './doctor-check.js';
import { withinTime } from './doctor-requests.js';

const MARKS: Readonly<Record<FindingStatus, string>> = { ok: '✓', failed: '✗', skipped: '–' };
const CLOSE_LIMIT_MS = 2_000;

const OPTIONS = {
  callback: {
    type: 'string',
    value: 'URL',
    about: "The callback controller's address, if the application's code sets another one than the variables.",
  },
  skip: {
    type: 'string',
    multiple: true,
    value: 'CHECKS',
    about: 'Leaves out these checks (separated by commas).',
  },
  timeout: { type: 'string', value: 'SECONDS', about: 'How long each check may take, 1 to 60; 10 by default.' },
  ...SETTINGS_OPTIONS,
  ...JSON_OPTION,
} as const;

interface Wishes {
  readonly file: string | null;
  readonly callback: string | undefined;
  readonly skip: readonly CheckName[];
}

export const doctorCommand = command({
  name: 'doctor',
  summary: 'Checks a set-up: settings, store, gateway, clock, credentials, callback address.',
  words: [],
  options: OPTIONS,
  notes:
    `Checks: ${CHECK_NAMES.join(', ')}.\n` +
    'It reads the same variables as the application and does not see what the application sets in code. It makes no\n' +
    'payment, changes nothing and shows no secret. The exit status is 1 if a check failed.',
  async run(call) {
    const { account = DEFAULT_ACCOUNT, callback, timeout } = call.values;
    const seconds = wholeNumber('timeout', timeout, { min: 1, max: 60, byDefault: 10 });
    const problem = callback === undefined ? null : baseUrlProblem(callback);
    if (problem !== null) throw new UsageError(`--callback ${problem}.`);
    const target = targetOf(account, call.environment, seconds * 1000);
    const findings = await examine(target, { file: call.environmentFile, callback, skip: skipOf(call) });
    const count = findings.filter(({ status }) => status === 'failed').length;
    const verdict = count === 0 ? 'All that could be checked is right.' : `${count} of these must be fixed.`;
    return {
      text: [...findings.map(lineOf), '', verdict].join('\n'),
      json: { ok: count === 0, account, checks: findings },
      status: count === 0 ? 0 : 1,
    };
  },
});

async function examine(target: DoctorTarget, { file, callback, skip }: Wishes): Promise<readonly Finding[]> {
  const isWanted = (check: CheckName): boolean => !skip.includes(check);
  const { settings, findings } = checkSettings(target);
  const [checked, asked, address] = await Promise.all([
    isWanted('store') || isWanted('clock') ? checkStore(target) : NO_STORE,
    checkGateway(target, isWanted('credentials') ? settings : null),
    isWanted('callback') ? checkCallbackAddress(target, callback) : [],
  ]);
  const clock = isWanted('clock')
    ? await checkClock(target, asked.clock, checked.hasOwnTime ? checked.store : null)
    : [];
  await withinTime(CLOSE_LIMIT_MS, async () => checked.store?.close()).catch(() => undefined);
  return [
    checkEnvironment(target, file),
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
  return `${MARKS[status]} ${check.padEnd(12)} ${message}${advice === null ? '' : `${stop} ${advice}`}`;
}

function skipOf({ values }: Call<typeof OPTIONS>): readonly CheckName[] {
  const names = (values.skip ?? []).flatMap((text) => text.split(',')).map((text) => text.trim());
  const isCheck = (name: string): name is CheckName => CHECK_NAMES.some((check) => check === name);
  const unknown = names.find((name) => !isCheck(name));
  if (unknown !== undefined)
    throw new UsageError(`--skip: there is no check "${unknown}", only ${CHECK_NAMES.join(', ')}.`);
  return names.filter(isCheck);
}
