import type { ConfigurationProblem } from '../errors/payment-errors.js';
import { DEFAULT_ACCOUNT, variableOf, variablePrefix } from '../payment/account.js';
import { isLoopback, looksAtNoCertificate } from '../runtime/network.js';
import { shownUrl } from '../store/store-url.js';
import { engineOfUrl } from '../store/sql/engines.js';
import { OPTIONS } from './option-table.js';
import type { PaymentOptions } from './payment-options.js';
import { type Environment, readOptions } from './payment-settings.js';
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
  const mistyped = nearMisses(environment, [account]).map(({ text }) => text);
  return [...hints, ...simulatorHint(problems, options, environment, account), ...mistyped];
}

/**
 * Suggests the simulator if there is no account at a gateway yet, but not where the simulator would be refused, as in
 * production.
 */
function simulatorHint(
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

/**
 * The warning about a store on another host whose connection is not protected by TLS; null if there is nothing to warn
 * about. A private network counts, too: this process cannot know who else is in it.
 */
export function unprotectedStoreText(storeUrl: string, variable: string, environment: Environment): string | null {
  const server = engineOfUrl(storeUrl)?.server;
  const host = server?.unprotectedHost(storeUrl, environment) ?? null;
  if (!server || host === null || isLoopback(host.toLowerCase()) || host === '::1') return null;
  const shown = shownUrl(storeUrl).endsWith('…') ? 'another host' : host;
  const isBlind = looksAtNoCertificate(environment);
  const own = `put ${server.tlsOption} in its URL`;
  const remedy = isBlind ? `${own}, and remove NODE_TLS_REJECT_UNAUTHORIZED=0` : own;
  return (
    `The connection to the payment store at ${shown} is not protected by verified TLS: anyone who can listen in ` +
    `between reads and changes payments, and learns the password. If the server supports TLS, ${remedy} (${variable}).`
  );
}

/** A variable whose name is almost that of one of this module's variables. It has no effect. */
export interface NearMiss {
  /** The name that was probably meant. */
  readonly meant: string;
  /** A line for people, without its value. */
  readonly text: string;
}

/** The variables of every account begin with this. */
const COMMON_PREFIX = variablePrefix(DEFAULT_ACCOUNT);
/** `SUCCESS_URL` and so on: the name without its prefix, for every option that a variable can set. */
const NAMES = Object.entries(OPTIONS)
  .filter(([, { isCodeOnly }]) => !isCodeOnly)
  .map(([option]) => variableOf(DEFAULT_ACCOUNT, option).slice(COMMON_PREFIX.length));
/** Endings that people forget: `PAYMENT_TIMEOUT`, `PAYMENT_STORE`. */
const ENDINGS = ['_MS', '_URL', '_ID'];
/**
 * Names of at least this length may have two mistakes; with two, a shorter name would match other software's variables.
 */
const LONG_NAME = 10;

/**
 * Finds mistyped variables, such as `PAYMENT_SUCESS_URL`. They are ignored, so without a warning nobody would notice
 * that the setting still has its default. It does not report variables of another account, or names that other software
 * may use.
 *
 * @param accounts the accounts whose variables are read: `default`, or the `name` of a registration
 */
export function nearMisses(
  environment: Environment,
  accounts: readonly string[] = [DEFAULT_ACCOUNT],
): readonly NearMiss[] {
  const prefixes = [...new Set(accounts.map(variablePrefix))];
  const known = prefixes.flatMap((prefix) => NAMES.map((name) => ({ prefix, name, variable: prefix + name })));
  const isKnown = new Set(known.map(({ variable }) => variable));
  return Object.keys(environment).flatMap((variable) => {
    if (isKnown.has(variable) || isOfAnotherAccount(variable)) return [];
    const meant = known.find((one) => isNear(variable.toUpperCase(), one))?.variable;
    // Windows ignores case, so there the lower-case variable is read, too.
    const isRead = variable.toUpperCase() === meant && environment[meant] === environment[variable];
    if (!meant || isRead) return [];
    const text = `${variable} is not a variable of nestjs-card-payment and has no effect: did you mean ${meant}?`;
    return [{ meant, text }];
  });
}

function isNear(variable: string, { prefix, name }: { readonly prefix: string; readonly name: string }): boolean {
  if (variable === prefix + name) return true;
  if (variable.startsWith(prefix)) {
    const rest = variable.slice(prefix.length);
    return editDistance(rest, name) <= (name.length < LONG_NAME ? 1 : 2) || ENDINGS.some((end) => rest + end === name);
  }
  const start = variable.slice(0, -name.length);
  return variable.endsWith(name) && editDistance(start, prefix) <= 1;
}

/** Whether this is a variable such as `PAYMENT_SHOP_BASE_URL`, which may be for an account `shop`. */
function isOfAnotherAccount(variable: string): boolean {
  return NAMES.some((name) => {
    const account = variable.startsWith(COMMON_PREFIX) ? variable.slice(COMMON_PREFIX.length, -name.length) : '';
    return variable.endsWith(name) && /^[A-Z0-9][A-Z0-9_]*_$/.test(account) && !account.endsWith('__');
  });
}

/**
 * Counts the typing mistakes between two words: a character missing, added, replaced, or swapped with its neighbour.
 */
function editDistance(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (beforeLast[column - 2] ?? Infinity) + 1 : Infinity,
      );
    }
    [beforeLast, last] = [last, current];
  }
  return last[other.length] ?? 0;
}

/** The word that is nearest to a mistyped one; null if none is near. */
export function nearest(typed: string, words: readonly string[], maxDistance = 2): string | null {
  const [found] = words
    .map((word) => ({ word, distance: editDistance(typed, word) }))
    .filter(({ word, distance }) => distance <= Math.min(maxDistance, Math.floor(word.length / 2)))
    .sort((a, b) => a.distance - b.distance);
  return found?.word ?? null;
}
