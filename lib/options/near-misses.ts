import { variablePrefix, variableOf } from '../payment/account.js';
import type { Option } from './option-kinds.js';
import { OPTIONS } from './option-table.js';

/** Longer names may have two slips of the pen in them, short ones one. */
const SHORT_NAME = 6;

/** As far as a variable is looked at: it is present, and not empty. */
type Variables = Record<string, string | undefined>;

/**
 * Variables that are set, that nothing reads, and that are nearly one of the account's: `PAYMENT_SUCESS_URL`. Their values
 * are not looked at. One that another account may read (`PAYMENT_EU_BASE_URL`) is none.
 */
export function nearMisses(
  env: Record<string, string | undefined>,
  account: string,
): { given: string; meant: string }[] {
  const known = new Set(variablesOf(account));
  return Object.keys(env)
    .filter((name) => isSet(env, name) && !known.has(name) && !isOfAnAccount(name))
    .flatMap((given) => {
      const meant = nearestTo(given, known, variablePrefix(account));
      return meant !== null && !isSet(env, meant) ? [{ given, meant }] : [];
    })
    .sort((a, b) => a.given.localeCompare(b.given));
}

function isSet(env: Variables, name: string): boolean {
  return (env[name] ?? '') !== '';
}

function optionNames(): string[] {
  const options = Object.entries(OPTIONS) as [string, Option<unknown, unknown>][];
  return options.filter(([, option]) => !option.isCodeOnly).map(([name]) => name);
}

function variablesOf(account: string): string[] {
  return optionNames().map((name) => variableOf(account, name));
}

/** Whether it is spelt as some account's variable is. */
function isOfAnAccount(name: string): boolean {
  return optionNames().some((option) => {
    const suffix = variableOf('x', option).slice(variablePrefix('x').length - 1);
    return new RegExp(`^PAYMENT(?:_[A-Z0-9_]+)?${suffix}$`).test(name);
  });
}

function nearestTo(given: string, known: ReadonlySet<string>, prefix: string): string | null {
  const upper = given.toUpperCase();
  let nearest: { readonly name: string; readonly slips: number } | null = null;
  for (const name of known) {
    const allowed = name.length - prefix.length < SHORT_NAME ? 1 : 2;
    const isSame = bare(upper) === bare(name);
    const slips = isSame ? 0 : slipsBetween(upper, name, allowed);
    if (slips <= allowed && slips < (nearest?.slips ?? Infinity)) nearest = { name, slips };
  }
  return nearest?.name ?? null;
}

function bare(name: string): string {
  return name.replaceAll(/[_-]/g, '');
}

/** How many letters are missing, too many, wrong or swapped with the next; more than `most` is not counted out. */
function slipsBetween(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return Infinity;
  let [before, row]: number[][] = [[], Array.from({ length: b.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      let slips = Math.min(row![j]! + 1, next[j - 1]! + 1, row![j - 1]! + (isSame ? 0 : 1));
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwapped) slips = Math.min(slips, before![j - 2]! + 1);
      next.push(slips);
    }
    [before, row] = [row, next];
  }
  return row![b.length]!;
}
