import { DEFAULT_ACCOUNT } from '../../payment/account.js';
import { baseUrlProblem } from '../../options/url-checks.js';
import { type Call, command } from '../command.js';
import { JSON_OPTION, SETTINGS_OPTIONS } from '../common-options.js';
import { UsageError } from '../usage.error.js';
import { wholeNumber } from '../whole-number.js';
import { checkCallbackAddress } from './callback-address-check.js';
import { checkClock } from './clock-check.js';
import { checkCredentials } from './credentials-check.js';
import { checkEnvironment, checkVariables } from './environment-checks.js';
import { CHECK_NAMES, type CheckName, type Finding, type FindingStatus } from './finding.js';
import { checkGateway } from './gateway-check.js';
import { type Patient, patientOf } from './patient.js';
import { checkSettings } from './settings-check.js';
import { checkStore, NO_STORE } from './store-check.js';
import { withinTime } from './time-limit.js';

const MARKS: Readonly<Record<FindingStatus, string>> = { ok: '✓', failed: '✗', skipped: '–' };
const CLOSE_LIMIT_MS = 2_000;

const OPTIONS = {
  callback: {
    type: 'string',
    value: 'URL',
    about: "Where the callback controller answers, if the application's code puts it elsewhere than the variables say.",
  },
  skip: { type: 'string', multiple: true, value: 'CHECKS', about: 'Leaves checks out, with commas between them.' },
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
  summary: 'Says what of a set-up works: settings, store, gateway, clock, credentials, callback address.',
  words: [],
  options: OPTIONS,
  notes:
    `Checks: ${CHECK_NAMES.join(', ')}.\n` +
    'It reads the same variables as the application; what the application sets in code is not seen. It makes no\n' +
    'payment, changes nothing and shows no secret. The exit status is 1 if a check failed.',
  async run(call) {
    const { account = DEFAULT_ACCOUNT, callback, timeout } = call.values;
    const seconds = wholeNumber('timeout', timeout, { min: 1, max: 60, byDefault: 10 });
    const problem = callback === undefined ? null : baseUrlProblem(callback);
    if (problem !== null) throw new UsageError(`--callback ${problem}.`);
    const patient = patientOf(account, call.environment, seconds * 1000);
    const findings = await examine(patient, { file: call.environmentFile, callback, skip: skipOf(call) });
    const count = findings.filter(({ status }) => status === 'failed').length;
    const verdict = count === 0 ? 'Nothing is wrong with what could be checked.' : `${count} of these must be mended.`;
    return {
      text: [...findings.map(lineOf), '', verdict].join('\n'),
      json: { ok: count === 0, account, checks: findings },
      status: count === 0 ? 0 : 1,
    };
  },
});

async function examine(patient: Patient, { file, callback, skip }: Wishes): Promise<readonly Finding[]> {
  const isWanted = (check: CheckName): boolean => !skip.includes(check);
  const { settings, findings } = checkSettings(patient);
  const [checked, gateway, address] = await Promise.all([
    isWanted('store') || isWanted('clock') ? checkStore(patient) : NO_STORE,
    checkGateway(patient),
    isWanted('callback') ? checkCallbackAddress(patient, callback) : [],
  ]);
  const isGatewayReached = gateway.status === 'ok';
  const [clock, credentials] = await Promise.all([
    isWanted('clock')
      ? checkClock(patient, { store: checked.hasOwnTime ? checked.store : null, isGatewayReached })
      : [],
    isWanted('credentials') ? checkCredentials(patient, settings, isGatewayReached) : [],
  ]);
  await withinTime(CLOSE_LIMIT_MS, async () => checked.store?.close()).catch(() => undefined);
  return [
    checkEnvironment(patient, file),
    ...findings,
    ...checkVariables(patient),
    ...checked.findings,
    gateway,
    ...clock,
    credentials,
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
