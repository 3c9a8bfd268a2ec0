import type { Environment } from '../options/payment-settings.js';

interface Option {
  /** The placeholder for its value in the help; absent for a flag. */
  readonly value?: string;
  readonly about: string;
}

/** Every option of every command: the same name means the same everywhere. */
export const OPTIONS = {
  help: { about: 'Shows this help.' },
  port: { value: 'PORT', about: '4010 by default; 0 takes any free port.' },
  host: { value: 'HOST', about: 'The address to listen on; 127.0.0.1 by default.' },
  'public-url': { value: 'URL', about: "The address of the bank's pages for browsers, if it differs." },
  dialect: {
    value: 'NAME',
    about: 'simulate: morpos (by default) or standard. schema: sqlite, postgres, mysql or mariadb.',
  },
  callback: { value: 'URL', about: "The callback controller's address, if only the application's code knows it." },
  skip: { value: 'CHECKS', about: 'Leaves out these checks (separated by commas).' },
  timeout: { value: 'SECONDS', about: 'How long each check may take, 1 to 60; 10 by default.' },
  from: { value: 'DAY', about: 'The first day, such as 2026-11-01; or a moment with its offset.' },
  to: { value: 'DAY', about: 'The last day, included; or the first moment that is no longer included.' },
  zone: { value: 'ZONE', about: 'The time zone of the days; Europe/Istanbul by default.' },
  format: { value: 'FORMAT', about: 'csv (by default), excel (CSV for Excel in Turkish) or json (one array).' },
  output: { value: 'FILE', about: 'Writes FILE, once all is read, instead of standard output.' },
  state: { value: 'STATES', about: 'Only those in these states (separated by commas), or "all".' },
  reference: { value: 'REFERENCE', about: "Only payments of this reference (the shop's own id)." },
  limit: { value: 'N', about: 'Shows at most N, 1 to 1000; 100 by default.' },
  after: { value: 'NEXT', about: 'Goes on after an earlier page: its "next".' },
  amount: { value: 'AMOUNT', about: 'In major units, such as 49.90. Default of a refund: all that is left.' },
  'refund-id': { value: 'ID', about: 'The id at the gateway, made unless given. The same id again sends nothing.' },
  key: { value: 'KEY', about: 'An idempotency key: the same key again sends nothing.' },
  note: { value: 'TEXT', about: 'Why, or how it was found out; kept in the history.' },
  by: { value: 'NAME', about: 'Who asks for it; kept in the history. Default: your user name here.' },
  force: { about: 'Resolves it as failed even if it was interrupted within the last hour.' },
  'dry-run': { about: 'Shows what would be sent, and sends nothing.' },
  yes: { about: 'Does not ask before money moves: for scripts.' },
  store: { value: 'URL', about: 'The store, instead of PAYMENT_STORE_URL.' },
  account: { value: 'NAME', about: 'A named account, which reads PAYMENT_<NAME>_*. Default: the unnamed one.' },
  env: { value: 'FILE', about: 'Reads variables from FILE, not from .env; those already set win.' },
  json: { about: 'Prints JSON, and nothing else, on standard output.' },
} as const satisfies Readonly<Record<string, Option>>;

export type OptionName = keyof typeof OPTIONS;

/** A command as the help shows it; its code is loaded when it is run. */
export interface Command {
  readonly summary: string;
  /** What follows its name. Those in brackets may be left out: `[CONVERSATION_ID]`. */
  readonly args: readonly string[];
  readonly options: readonly OptionName[];
  /** Shown below the options. */
  readonly notes?: string;
  readonly load: () => Promise<Run>;
}

export type Run = (call: Call) => Promise<Outcome>;

/** What was typed, and where it was. */
export interface Call {
  readonly args: readonly string[];
  /** The value of each option that was given, the last one's; of `--state` and `--skip` all, joined by commas. */
  readonly options: Readonly<Partial<Record<OptionName, string>>>;
  readonly flags: ReadonlySet<OptionName>;
  /** The process's variables, with those of the `.env` file. */
  readonly environment: Environment;
  /** The file that variables were read from; null if there was none. */
  readonly environmentFile: string | null;
  readonly terminal: Terminal;
}

export type Stream = 'stdout' | 'stderr';

/** Where a command shows what it has to say before it has ended. */
export interface Terminal {
  /** It never rejects. `closed`: nobody reads it any more; `failed`: it could not be written. */
  print(text: string, stream: Stream): Promise<'shown' | 'closed' | 'failed'>;
  /** Asks a person, and gives the line that was typed; null where nobody can be asked. */
  readonly ask: ((question: string) => Promise<string>) | null;
}

/** The result of a command: data, which is printed as JSON or laid out for people. */
export interface Outcome {
  /** Its shape is documented. */
  readonly json?: object;
  /** Which fields people are shown of the entries of a list, by the list's name; by default all. */
  readonly columns?: Readonly<Record<string, readonly string[]>>;
  /** What people are shown instead of the data; without control characters but for line ends. */
  readonly text?: string;
  /** For people, on standard error. */
  readonly remark?: string;
  /** 1 if the result is bad; 0 by default. */
  readonly status?: 0 | 1;
  /** Whether the process keeps running until it is ended. */
  readonly staysUp?: boolean;
}

/** The arguments of the command, or the settings that it needs, are wrong: nothing was tried. */
export class UsageError extends Error {}

/** The command failed. The message is for people and shows no secret. */
export class CommandFailedError extends Error {}

/** @throws UsageError naming the option and its limits */
export function wholeNumber(
  { options }: Call,
  option: OptionName,
  { min, max, byDefault }: { readonly min: number; readonly max: number; readonly byDefault: number },
): number {
  const text = options[option];
  if (text === undefined) return byDefault;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
  if (number >= min && number <= max) return number;
  throw new UsageError(`--${option} takes a whole number from ${min} to ${max}.`);
}

/** The texts of an option that takes several, separated by commas. */
export function listOf(text = ''): string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}
