import type { ConfigurationProblem } from '../errors/payment-errors.js';
import { variableOf, variablePrefix } from '../payment/account.js';
import { describeNearMiss, nearMisses } from './near-misses.js';
import type { PaymentOptions } from './payment-options.js';
import { type Environment, readOptions } from './read-options.js';
import { simulatorProblems } from './simulator-setting.js';
import { SIMULATOR_URL } from './url-checks.js';

/** What is probably behind problems with the settings, for the end of the error that names them. */
export function settingHints(
  problems: readonly ConfigurationProblem[],
  options: PaymentOptions,
  environment: Environment,
  account: string,
): string[] {
  const prefix = variablePrefix(account);
  const isAnySet = Object.keys(environment).some((name) => name.startsWith(prefix) && environment[name]);
  const isAnyMissing = problems.some(({ variable, message }) => variable !== null && message.startsWith('is missing'));
  const hints: string[] = [];
  if (!isAnySet && isAnyMissing) {
    hints.push(
      `No variable begins with ${prefix}: was .env loaded? Import ConfigModule.forRoot() of @nestjs/config, or start ` +
        'with node --env-file=.env; and run in the folder that has the file.',
    );
  }
  const isDialectLeft = options.dialect === undefined && !environment[variableOf(account, 'dialect')];
  if (isDialectLeft && problems.some(({ option }) => option === 'signer')) {
    const variable = variableOf(account, 'dialect');
    hints.push(
      `${variable} is not set, so the dialect "standard" counts, which needs a signer in code: for a MorPOS gateway ` +
        `set ${variable}=morpos.`,
    );
  }
  return [...hints, ...simulatorHint(problems, options, environment, account), ...nearMissTexts(environment, account)];
}

/** For those who have no account at a gateway yet; not where the simulator would be refused, as in production. */
export function simulatorHint(
  problems: readonly ConfigurationProblem[],
  options: PaymentOptions,
  environment: Environment,
  account: string,
): string[] {
  const isMissing = (name: string): boolean =>
    problems.some(({ option, message }) => option === name && message.startsWith('is missing'));
  const isWithoutAccount =
    isMissing('baseUrl') || ['merchantId', 'clientId', 'clientSecret'].every((name) => isMissing(name));
  const { values } = readOptions(options, environment, account);
  if (!isWithoutAccount || simulatorProblems(values, environment, account).length > 0) return [];
  const variable = variableOf(account, 'baseUrl');
  return [
    `To try it without an account at a gateway, set ${variable}=${SIMULATOR_URL} and nothing else: a simulated gateway ` +
      'and bank inside the application.',
  ];
}

/** A line for each variable that is nearly one of the account's. */
export function nearMissTexts(environment: Environment, account: string): string[] {
  return nearMisses(environment, [account]).map(describeNearMiss);
}
