import type { ConfigurationProblem } from '../errors/payment-errors.js';
import { variableOf, variablePrefix } from '../payment/account.js';
import { isLoopback, looksAtNoCertificate } from '../runtime/network.js';
import { shownUrl } from '../store/store-url.js';
import { engineOfUrl } from '../store/sql/engines.js';
import { describeNearMiss, nearMisses } from './near-misses.js';
import type { PaymentOptions } from './payment-options.js';
import { type Environment, readOptions } from './read-options.js';
import { simulatorProblems } from './simulator-setting.js';
import { SIMULATOR_URL } from './url-checks.js';

/** The likely causes of problems with the settings, for the end of the error that names the problems. */
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

/**
 * Suggests the simulator if there is no account at a gateway yet, but not where the simulator would be refused, as in
 * production.
 */
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

/** A line for each mistyped variable of the account. */
export function nearMissTexts(environment: Environment, account: string): string[] {
  return nearMisses(environment, [account]).map(describeNearMiss);
}

/**
 * The warning about a store on another host whose connection is not protected by TLS; null if there is nothing to warn
 * about. A private network counts, too: this process cannot know who else is in it.
 */
export function unprotectedStoreText(storeUrl: string, variable: string, environment: Environment): string | null {
  const engine = engineOfUrl(storeUrl);
  const host = engine?.unprotectedHost(storeUrl, environment) ?? null;
  if (!engine || host === null || isLoopback(host.toLowerCase()) || host === '::1') return null;
  const shown = shownUrl(storeUrl).endsWith('…') ? 'another host' : host;
  const isBlind = looksAtNoCertificate(environment);
  const own = `put ${engine.tlsOption} in its URL`;
  const remedy = isBlind ? `${own}, and remove NODE_TLS_REJECT_UNAUTHORIZED=0` : own;
  return (
    `The connection to the payment store at ${shown} is not protected by verified TLS: anyone who can listen in ` +
    `between reads and changes payments, and learns the password. If the server supports TLS, ${remedy} (${variable}).`
  );
}
