import { MAX_TIMER_MS } from '../runtime/clock.js';
import type { Payment } from '../payment/payment.js';
import { resultUrlProblem } from './url-checks.js';

/** The default of an option that must be given. */
export const REQUIRED: unique symbol = Symbol('required');

/** Where the buyer goes after the callback: an address or, in code, a function that makes one from the payment. */
export type ResultUrl = string | ((payment: Payment) => string);

/** One option. The name of its variable is derived from its own. */
export interface Option<Given, Default> {
  readonly default: Default;
  /** Whether it can be given in code only, not by a variable. */
  readonly isCodeOnly: boolean;
  /** Reads the text of a variable. Text that it cannot read is returned unchanged, and `problem` refuses it. */
  parse(text: string): unknown;
  /** @returns why the value is wrong, without showing it; null if it is right */
  problem(value: unknown): string | null;
  /** Converts a valid value to the form that the settings use. */
  normalize(value: Given): Given;
}

/** The type of an option's value in code. */
export type GivenTo<O> = O extends Option<infer Given, unknown> ? Given : never;

/** The type of an option's value in the settings: given, or its default. */
export type SetBy<O> = O extends Option<infer Given, infer Default> ? Given | Exclude<Default, typeof REQUIRED> : never;

/** @returns why the text is wrong; null if it is right */
type TextCheck = (text: string) => string | null;

/** A blank variable counts as not set. */
const FLAGS: ReadonlyMap<string, boolean | undefined> = new Map([
  ['', undefined],
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

export function text<Default extends string | null | typeof REQUIRED>(rules: {
  readonly default: Default;
  readonly check?: TextCheck;
  readonly normalize?: (text: string) => string;
}): Option<string, Default> {
  const { check = emptyProblem, normalize = unchanged } = rules;
  return {
    default: rules.default,
    isCodeOnly: false,
    parse: unchanged,
    problem: (value) => (typeof value === 'string' ? check(value) : 'must be text'),
    normalize,
  };
}

/** A list of texts; in its variable, they are separated by commas. */
export function texts({ check }: { readonly check: TextCheck }): Option<readonly string[], readonly string[]> {
  const problemOf = (one: unknown): string | null => (typeof one === 'string' ? check(one) : 'must be text');
  return {
    default: [],
    isCodeOnly: false,
    parse: (list) =>
      list
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== ''),
    problem: (value) => {
      if (!Array.isArray(value)) return 'must be a list';
      const problem = value.map(problemOf).find((one) => one !== null);
      return problem === undefined ? null : `each ${problem}`;
    },
    normalize: unchanged,
  };
}

export function choice<Name extends string>(names: readonly Name[], byDefault: Name): Option<Name, Name> {
  const check: TextCheck = (name) =>
    (names as readonly string[]).includes(name) ? null : `must be one of: ${names.join(', ')}`;
  return { ...text({ default: byDefault, check }), default: byDefault, normalize: unchanged };
}

export function wholeNumber<Default extends number | null>(rules: {
  readonly default: Default;
  readonly min: number;
  readonly max?: number;
}): Option<number, Default> {
  const { min, max = MAX_TIMER_MS } = rules;
  const isGood = (value: unknown): boolean =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
  return {
    default: rules.default,
    isCodeOnly: false,
    parse: (digits) => (/^\d{1,15}$/.test(digits.trim()) ? Number(digits) : digits),
    problem: (value) => (isGood(value) ? null : `must be a whole number from ${min} to ${max}`),
    normalize: unchanged,
  };
}

export function flag(byDefault: boolean): Option<boolean, boolean> {
  return {
    default: byDefault,
    isCodeOnly: false,
    parse: (given) => {
      const key = given.trim().toLowerCase();
      return FLAGS.has(key) ? FLAGS.get(key) : given;
    },
    problem: (value) => (typeof value === 'boolean' ? null : 'must be true or false'),
    normalize: unchanged,
  };
}

export function codeOnly<Given>(isGood: (value: unknown) => boolean, message: string): Option<Given, null> {
  return {
    default: null,
    isCodeOnly: true,
    parse: unchanged,
    problem: (value) => (isGood(value) ? null : message),
    normalize: unchanged,
  };
}

/** Adds a type of value that can be given in code only. */
export function orInCode<Given, Default, Other>(
  option: Option<Given, Default>,
  isOther: (value: unknown) => value is Other,
): Option<Given | Other, Default> {
  return {
    ...option,
    problem: (value) => (isOther(value) ? null : option.problem(value)),
    normalize: (value) => (isOther(value) ? value : option.normalize(value)),
  };
}

export function resultUrl(): Option<ResultUrl, null> {
  const isFunction = (value: unknown): value is Exclude<ResultUrl, string> => typeof value === 'function';
  return orInCode(text({ default: null, check: resultUrlProblem }), isFunction);
}

function emptyProblem(given: string): string | null {
  return given.trim() === '' ? 'must not be empty' : null;
}

function unchanged<T>(value: T): T {
  return value;
}
