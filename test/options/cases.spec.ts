import { inspect } from 'node:util';
import { OPTIONS, type OptionName } from '../../lib/options/option-table.js';
import type { PaymentOptions } from '../../lib/options/payment-options.js';
import type { Environment, PaymentSettings } from '../../lib/options/payment-settings.js';
import { resolveSettings } from '../../lib/options/resolve-settings.js';
import { nearest, nearMisses, unprotectedStoreText } from '../../lib/options/setting-hints.js';
import { resultUrlProblem } from '../../lib/options/url-checks.js';
import { variableOf } from '../../lib/payment/account.js';
import { expectCases } from '../rigs/case-texts.js';
import { refusal, resolve } from './resolve.js';

// The defaults of all options, and their variables, are in test/api/expected/options.txt.

const optionOf = new Map(Object.keys(OPTIONS).map((name) => [variableOf('default', name), name as OptionName]));

/** As it is set, or why it is refused. */
function outcomeOf(run: () => unknown): string {
  let value: unknown;
  try {
    value = run();
  } catch {
    const { problems, message } = refusal(run);
    const [problem] = problems;
    expect(problems).toHaveLength(1);
    expect(message).toContain(`${problem?.option}${problem?.variable ? ` (${problem.variable})` : ''}`);
    return `refused: ${problem?.message}`;
  }
  return inspect(value, { breakLength: Infinity });
}

/** The value of an option in the settings, of which some are hidden when they are copied. */
function settingOf(option: OptionName, { credentials, dialect, storeUrl, ...settings }: PaymentSettings): unknown {
  const read: Readonly<Record<string, unknown>> = { ...settings, ...credentials, dialect: dialect.name, storeUrl };
  return read[option];
}

/** `PAYMENT_LUHN="false"` */
function ofVariable(input: string): string {
  const [, variable = '', text = ''] = /^(\w+)=(.*)$/.exec(input) ?? [];
  const option = optionOf.get(variable)!;
  const environment = { [variable]: JSON.parse(text) as string };
  const read = (given: unknown, variables = environment): unknown =>
    settingOf(option, resolve({ [option]: given }, variables));
  const outcome = outcomeOf(() => read(undefined));
  expect(outcomeOf(() => read(null))).toBe(outcome);
  if (outcome.startsWith('refused')) {
    const error = refusal(() => read(undefined));
    expect(error.problems).toMatchObject([{ option, variable }]);
    expect(outcomeOf(() => read(environment[variable], {}))).toBe(outcome);
    expect(inspect(error) + JSON.stringify(error)).not.toContain('zzz');
    return outcome;
  }
  // What is given in code wins, and is of that type alone.
  const value = read(undefined);
  expect(read(value, { [variable]: 'zzz' })).toEqual(value);
  for (const bad of [Symbol('zzz'), 1n, '', typeof value === 'string' ? 7 : String(value)]) {
    expect(outcomeOf(() => read(bad, {}))).toMatch(/^refused/);
  }
  return outcome;
}

/** An address at each of these. */
const address =
  (...options: readonly OptionName[]) =>
  (input: string): string => {
    const url = JSON.parse(input) as string;
    const outcomes = options.map((option) => outcomeOf(() => settingOf(option, resolve({ [option]: url }))));
    expect(new Set(outcomes).size).toBe(1);
    return outcomes[0]!;
  };

/** A `baseUrl`, in code and as a variable. */
function simulatorUrl(input: string): string {
  const baseUrl = JSON.parse(input) as string;
  const publicUrl = 'http://localhost';
  const outcome = outcomeOf(() => resolve({ baseUrl, publicUrl }).baseUrl);
  const variables = { PAYMENT_BASE_URL: baseUrl };
  expect(outcomeOf(() => resolve({ baseUrl: undefined, publicUrl }, variables).baseUrl)).toBe(outcome);
  // Of what the simulator needs no setting of, nothing else is said.
  if (outcome.includes('simulator: alone')) expect(outcomeOf(() => resolveSettings({}, {}, variables))).toBe(outcome);
  return outcome;
}

/** `NODE_ENV="production" publicUrl="https://shop.example"`: variables and options. */
function simulated(input: string): string {
  const given = Array.from(input.matchAll(/(\w+)="([^"]*)"/g), ([, name = '', value = '']) => [name, value] as const);
  const isVariable = ([name]: readonly [string, string]): boolean => name === name.toUpperCase();
  const options = Object.fromEntries(given.filter((one) => !isVariable(one))) as PaymentOptions;
  const environment = { PAYMENT_BASE_URL: 'simulator:', ...Object.fromEntries(given.filter(isVariable)) };
  const outcome = outcomeOf(() => resolveSettings(options, {}, environment).baseUrl);
  return outcome.replace(/: no money would move.*, set NODE_ENV=development$/, '…');
}

const WARNING = new RegExp(
  '^The connection to the payment store at (.*) is not protected by verified TLS: anyone who can listen in between ' +
    'reads and changes payments, and learns the password. If the server supports TLS, (.*) \\(PAYMENT_STORE_URL\\)\\.$',
);

/** A store's address, and variables. @returns what is warned of */
function storeWarning(input: string): string {
  const [url = '', ...words] = input.split(' ');
  const environment = Object.fromEntries(words.map((word) => word.split('=')) as [string, string][]) as Environment;
  const warning = unprotectedStoreText(url, 'PAYMENT_STORE_URL', environment);
  if (warning === null) return 'nothing';
  const [, host = '', remedy = ''] = WARNING.exec(warning) ?? [];
  return `at ${host}: ${remedy}`;
}

const nameOf = (input: string): string =>
  outcomeOf(() => resolve({}, {}, { name: JSON.parse(input) as string }).account);

test('settings are taken or refused', () =>
  expectCases(import.meta.url, 'settings.txt', {
    'A variable': ofVariable,
    'An address of the gateway, of the shop or of its callback': address('baseUrl', 'publicUrl', 'callbackUrl'),
    'An address to which the buyer goes': (input) => resultUrlProblem(JSON.parse(input) as string) ?? 'taken',
    'What may mean the simulator': simulatorUrl,
    'The simulator': simulated,
    'The name of an account': nameOf,
  }));

test('hints and warnings', () =>
  expectCases(import.meta.url, 'hints.txt', {
    'A variable that may be meant for the module': (variable) => {
      const [miss] = nearMisses({ [variable]: 'geheim' });
      if (!miss) return 'left alone';
      const what = `${variable} is not a variable of nestjs-card-payment and has no effect`;
      expect(miss.text).toBe(`${what}: did you mean ${miss.meant}?`);
      return miss.meant;
    },
    'A word beside list, show and stats': (typed) => nearest(typed, ['list', 'show', 'stats']) ?? 'none',
    'A store': storeWarning,
  }));

const NAMES = [...optionOf].filter(([, option]) => !OPTIONS[option].isCodeOnly).map(([variable]) => variable);
const meantBy = (environment: Environment, accounts?: readonly string[]): string[] =>
  nearMisses(environment, accounts).map(({ meant }) => meant);

test('a variable is missed by a character left out of its name, and is no near miss itself', () => {
  for (const name of NAMES) {
    const middle = 'PAYMENT_'.length + 1 + Math.floor((name.length - 'PAYMENT_'.length - 1) / 2);
    expect([name, meantBy({ [name.slice(0, middle) + name.slice(middle + 1)]: 'x' })]).toEqual([name, [name]]);
    expect(meantBy({ [name]: 'x' })).toEqual([]);
  }
  // On Windows, where case does not count, it is in the environment in another case.
  expect(meantBy({ Payment_Dialect: 'morpos', PAYMENT_DIALECT: 'morpos' })).toEqual([]);
  expect(meantBy({ PAYMENT_SHOP_2_SUCESS_URL: 'x' }, ['default', 'shop-2'])).toEqual(['PAYMENT_SHOP_2_SUCCESS_URL']);
});
