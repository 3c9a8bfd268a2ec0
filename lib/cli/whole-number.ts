import { UsageError } from './usage.error.js';

/** @throws UsageError naming the option and its limits */
export function wholeNumber(
  option: string,
  text: string | undefined,
  { min, max, byDefault }: { readonly min: number; readonly max: number; readonly byDefault: number },
): number {
  if (text === undefined) return byDefault;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (number >= min && number <= max) return number;
  throw new UsageError(`--${option} takes a whole number from ${min} to ${max}.`);
}

/** What `--limit` says. */
export function limitOf(text: string | undefined): number {
  return wholeNumber('limit', text, { min: 1, max: 10_000, byDefault: 100 });
}
