import { DEFAULT_ACCOUNT, variableOf, variablePrefix } from '../payment/account.js';
import { editDistance } from './edit-distance.js';
import { OPTIONS } from './option-table.js';
import type { Environment } from './read-options.js';

/** A variable that is nearly one of this module's, and so has no effect. */
export interface NearMiss {
  /** As it stands in the environment. */
  readonly variable: string;
  /** The one that was probably meant. */
  readonly meant: string;
}

/** What all variables of this module begin with, whatever the account. */
const COMMON_PREFIX = variablePrefix(DEFAULT_ACCOUNT);
/** `SUCCESS_URL`, of every option that a variable can set. */
const NAMES = Object.entries(OPTIONS)
  .filter(([, { isCodeOnly }]) => !isCodeOnly)
  .map(([option]) => variableOf(DEFAULT_ACCOUNT, option).slice(COMMON_PREFIX.length));
/** Endings that are easily left out: `PAYMENT_TIMEOUT`, `PAYMENT_STORE`. */
const ENDINGS = ['_MS', '_URL', '_ID'];
/** In a longer name two mistakes may be meant; a shorter one would be found in names of others. */
const LONG_NAME = 10;

/**
 * Variables that are mistyped: `PAYMENT_SUCESS_URL`. They are read by nobody, so that the setting silently is its
 * default. A variable of a further account is none, nor is one that somebody else may have named.
 *
 * @param accounts those whose variables are read: `default`, or the `name` of a registration
 */
export function nearMisses(
  environment: Environment,
  accounts: readonly string[] = [DEFAULT_ACCOUNT],
): readonly NearMiss[] {
  const prefixes = [...new Set(accounts.map(variablePrefix))];
  const known = prefixes.flatMap((prefix) => NAMES.map((name) => ({ prefix, name, variable: prefix + name })));
  const isKnown = new Set(known.map(({ variable }) => variable));
  const misses: NearMiss[] = [];
  for (const variable of Object.keys(environment)) {
    if (isKnown.has(variable) || isOfAnotherAccount(variable)) continue;
    const meant = known.find((one) => isNear(variable.toUpperCase(), one))?.variable;
    // Where case does not count (Windows), a variable in lower case is the very one that is read.
    if (meant && !(variable.toUpperCase() === meant && environment[meant] === environment[variable])) {
      misses.push({ variable, meant });
    }
  }
  return misses;
}

/** As a warning, for people. It shows no value. */
export function describeNearMiss({ variable, meant }: NearMiss): string {
  return `${variable} is not a variable of nestjs-card-payment and has no effect: did you mean ${meant}?`;
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

/** `PAYMENT_SHOP_BASE_URL`, whether or not an account `shop` is looked at here. */
function isOfAnotherAccount(variable: string): boolean {
  return NAMES.some((name) => {
    const account = variable.startsWith(COMMON_PREFIX) ? variable.slice(COMMON_PREFIX.length, -name.length) : '';
    return variable.endsWith(name) && /^[A-Z0-9][A-Z0-9_]*_$/.test(account) && !account.endsWith('__');
  });
}
