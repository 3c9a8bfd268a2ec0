import type { Environment } from '../options/read-options.js';

/** An option of a command, as `util.parseArgs` reads it. */
export interface CommandOption {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** May be given more than once. */
  readonly multiple?: boolean;
  /** The placeholder for its value in the help. */
  readonly value?: string;
  readonly about: string;
}

export type CommandOptions = Readonly<Record<string, CommandOption>>;

/** The value given for each option; undefined if none was given. */
export type OptionValuesOf<Options extends CommandOptions> = {
  readonly [Name in keyof Options]?: Options[Name] extends { readonly multiple: true }
    ? readonly string[]
    : Options[Name] extends { readonly type: 'boolean' }
      ? boolean
      : string;
};

/** A call of a command. */
export interface Call<Options extends CommandOptions> {
  /** One value for each of the command's words that was given. */
  readonly words: readonly string[];
  readonly values: OptionValuesOf<Options>;
  /** The process's variables, with those of the `.env` file. */
  readonly environment: Environment;
  /** The file that variables were read from; null if there was none. */
  readonly environmentFile: string | null;
  /** Shows a line at once: on standard output, or on standard error with `--json`. It never rejects. */
  readonly announce: (line: string) => Promise<void>;
  /**
   * Writes a part of the command's result to standard output, as it is, and waits until it is taken. False when nobody
   * reads it any more.
   * @throws CommandFailedError if it cannot be written, as where a disk is full
   */
  readonly write: (text: string) => Promise<boolean>;
}

/** The result of a command. */
export interface Outcome {
  readonly text: string;
  /** For people, on standard error. */
  readonly remark?: string;
  /** Printed with `--json`, instead of the text. Its shape is documented and must not change. */
  readonly json?: object;
  /** 1 if the result is bad; 0 by default. */
  readonly status?: 0 | 1;
  /** Whether the process keeps running until it is ended. */
  readonly staysUp?: boolean;
}

export interface Command<Options extends CommandOptions = CommandOptions> {
  readonly name: string;
  readonly summary: string;
  /** The words that follow its name. Those in brackets may be left out: `[CONVERSATION_ID]`. */
  readonly words: readonly string[];
  readonly options: Options;
  /** Shown below the options. */
  readonly notes?: string;
  run(call: Call<Options>): Outcome | Promise<Outcome>;
}

/**
 * Drops the types of a command's options, so that commands fit into one list. `run` is called with parsed options only.
 */
export function command<const Options extends CommandOptions>(definition: Command<Options>): Command {
  return definition;
}

/** The arguments of the command, or the settings that it needs, are wrong: nothing was tried. */
export class UsageError extends Error {}

/** The command failed. The message is for people and shows no secret. */
export class CommandFailedError extends Error {}

export const HELP_OPTION = {
  help: { type: 'boolean', short: 'h', about: 'Shows this help.' },
} as const satisfies CommandOptions;

/** For every command that reads settings. */
export const SETTINGS_OPTIONS = {
  account: {
    type: 'string',
    value: 'NAME',
    about: 'A named account, which reads PAYMENT_<NAME>_*. Default: the unnamed account, which reads PAYMENT_*.',
  },
  env: { type: 'string', value: 'FILE', about: 'Reads variables from FILE, not from .env; those already set win.' },
} as const satisfies CommandOptions;

export const JSON_OPTION = {
  json: { type: 'boolean', about: 'Prints JSON, and nothing else, on standard output.' },
} as const satisfies CommandOptions;

/** For every command that opens a store. */
export const STORE_OPTIONS = {
  store: { type: 'string', value: 'URL', about: 'The store, instead of PAYMENT_STORE_URL.' },
  ...SETTINGS_OPTIONS,
  ...JSON_OPTION,
} as const satisfies CommandOptions;

export const LIMIT_OPTION = {
  limit: { type: 'string', value: 'N', about: 'Shows at most N, 1 to 10000; 100 by default.' },
} as const satisfies CommandOptions;

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

/** Reads `--limit`. */
export function limitOf(text: string | undefined): number {
  return wholeNumber('limit', text, { min: 1, max: 10_000, byDefault: 100 });
}
