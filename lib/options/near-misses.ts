import { DEFAULT_ACCOUNT, variableOf, variablePrefix } from '../payment/account.js';
import { OPTIONS } from './option-table.js';
import type { Environment } from './read-options.js';

/** A variable whose name is almost that of one of this module's variables. It has no effect. */
export interface NearMiss {
  /** The name in the environment. */
  readonly variable: string;
  /** The name that was probably meant. */
  readonly meant: string;
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
  const misses: NearMiss[] = [];
  for (const variable of Object.keys(environment)) {
    if (isKnown.has(variable) || isOfAnotherAccount(variable)) continue;
    const meant = known.find((one) => isNear(variable.toUpperCase(), one))?.variable;
    // Windows ignores case, so there the lower-case variable is read, too.
    if (meant && !(variable.toUpperCase() === meant && environment[meant] === environment[variable])) {
      misses.push({ variable, meant });
    }
  }
  return misses;
}

/** The warning for people. It shows no value. */
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
