import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parseArgs, type ParseArgsConfig, parseEnv } from 'node:util';
import {
  type Call,
  type Command,
  CommandFailedError,
  type OptionName,
  OPTIONS,
  type Outcome,
  type Terminal,
  UsageError,
} from './command.js';
import { COMMANDS } from './commands.js';
import { escaped, escapedLines, layOut } from './layout.js';

const NAMES = Object.keys(COMMANDS);
const VERSION = ['--version', '-v', 'version'];
const HELP = ['--help', '-h', 'help'];
const DEFAULT_FILE = '.env';
const STATUSES = `Exit status: 0 done, and the result is good; 1 failed, or the result is bad;
2 the arguments or the settings are wrong, and nothing was tried.
`;

/** What is still to be printed, and how the process ends. */
export interface Answer {
  readonly status: 0 | 1 | 2;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether the process keeps running until it is ended. */
  readonly staysUp?: boolean;
}

/** Runs the command that is typed. It never rejects. */
export async function runCommandLine(typed: readonly string[], terminal: Terminal): Promise<Answer> {
  const [first = '', ...others] = typed;
  if (VERSION.includes(first)) return said(`${packageVersion()}\n`);
  if (first === '') return { status: 2, stdout: '', stderr: helpOfAll() };
  if (HELP.includes(first)) {
    return others.length === 0 ? said(helpOfAll()) : runCommandLine([...others, '--help'], terminal);
  }
  let name: string | null = null;
  try {
    const isGroup = NAMES.some((one) => one.startsWith(`${first} `));
    const [second = '', ...rest] = others;
    if (isGroup && HELP.includes(second)) return said(helpOfAll(`${first} `));
    name = commandNamed(isGroup ? `${first} ${second}` : first, isGroup ? `${first} ` : '');
    return await run(name, isGroup ? rest : others, terminal);
  } catch (error) {
    return refusal(error, name);
  }
}

/** @throws UsageError that lists the commands */
function commandNamed(name: string, group: string): string {
  if (Object.hasOwn(COMMANDS, name)) return name;
  const others = NAMES.filter((one) => one.startsWith(group)).map((one) => one.slice(group.length));
  const word = name.slice(group.length);
  if (word === '') throw new UsageError(`"${group.trim()}" needs a command: ${others.join(', ')}.`);
  const firstWords = new Set(others.map((one) => one.split(' ', 1)[0]));
  throw new UsageError(
    `There is no command "${group}${shownWord(word)}". The commands are: ${[...firstWords].join(', ')}.`,
  );
}

async function run(name: string, typed: readonly string[], terminal: Terminal): Promise<Answer> {
  const command = COMMANDS[name]!;
  const parsed = parsedBy(name, command, typed);
  if (parsed.flags.has('help')) return said(helpOf(name, command));
  const environmentFile = loadEnvironmentFile(parsed.options.env);
  const act = await command.load();
  const outcome = await act({ ...parsed, environment: process.env, environmentFile, terminal });
  const { status = 0, remark, staysUp } = outcome;
  const stderr = remark === undefined ? '' : `${escapedLines(remark)}\n`;
  return { ...said(textOf(outcome, parsed.flags.has('json')), status), stderr, staysUp };
}

function textOf({ text, json, columns }: Outcome, isJson: boolean): string {
  if (isJson && json) return `${escapedLines(JSON.stringify(json, null, 2))}\n`;
  const shown = text ?? (json && layOut(json, columns)) ?? '';
  return shown === '' ? '' : `${escapedLines(shown)}\n`;
}

/** @throws UsageError */
function parsedBy(name: string, { args, options }: Command, typed: readonly string[]) {
  const known = Object.fromEntries(
    (['help', ...options] as const).map((option) => {
      const isFlag = !('value' in OPTIONS[option]);
      return [option, { type: isFlag ? ('boolean' as const) : ('string' as const), multiple: !isFlag }];
    }),
  );
  const { values, positionals } = strictly([...typed], { ...known, help: { type: 'boolean', short: 'h' } });
  const given = Object.entries(values) as [OptionName, true | string[]][];
  const texts = given.flatMap(([option, value]) => (value === true ? [] : [[option, oneText(option, value)] as const]));
  const call: Pick<Call, 'args' | 'options' | 'flags'> = {
    args: positionals,
    options: Object.fromEntries(texts),
    flags: new Set(given.filter(([, value]) => value === true).map(([option]) => option)),
  };
  if (call.flags.has('help')) return call;
  const missing = args[positionals.length];
  if (missing !== undefined && !missing.startsWith('['))
    throw new UsageError(`"${name}" takes ${args.join(' ')}: ${missing} is missing.`);
  const surplus = positionals[args.length];
  if (surplus !== undefined) throw new UsageError(`"${name}" has no use for the argument "${shownWord(surplus)}".`);
  return call;
}

/** Those that take a list may be given more than once; of all others, the last one counts. */
function oneText(option: OptionName, values: readonly string[]): string {
  return option === 'state' || option === 'skip' ? values.join(',') : (values.at(-1) ?? '');
}

function strictly(args: string[], options: ParseArgsConfig['options']) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    // After the first sentence it speaks of arguments that begin with a dash: no command takes one.
    const { message } = error as Error;
    throw new UsageError(message.split(/(?<=')\. |\n/, 1)[0] ?? message);
  }
}

/** A word as it was typed, unless it is a URL, perhaps with a password. */
function shownWord(word: string): string {
  return word.includes('://') ? `${word.slice(0, word.indexOf('://'))}://…` : word;
}

/**
 * Reads variables from a file into the process, as `ConfigModule` does: variables that are set already win.
 *
 * @param file by default `.env` in the working directory, if it exists
 * @returns the file that was read; null if there was none
 * @throws UsageError when it cannot be read
 */
function loadEnvironmentFile(file: string | undefined): string | null {
  const name = file ?? DEFAULT_FILE;
  const there = statSync(name, { throwIfNoEntry: false });
  if (!there || there.isDirectory()) {
    if (file === undefined) return null;
    throw new UsageError(there ? `--env: ${file} is a folder.` : `--env: there is no file ${file}.`);
  }
  let text: string;
  try {
    text = readFileSync(name, 'utf8');
  } catch {
    throw new UsageError(`${name} cannot be read; may this user read it?`);
  }
  for (const [variable, value] of Object.entries(parseEnv(text))) process.env[variable] ??= value;
  return name;
}

function said(stdout: string, status: Answer['status'] = 0): Answer {
  return { status, stdout, stderr: '' };
}

async function refusal(error: unknown, name: string | null): Promise<Answer> {
  const say = (status: 1 | 2, text: string): Answer => ({ status, stdout: '', stderr: `${escapedLines(text)}\n` });
  const help = ['nestjs-card-payment', ...(name === null ? [] : [name]), '--help'].join(' ');
  if (error instanceof UsageError) return say(2, `${error.message}\n"${help}" explains it.`);
  if (error instanceof CommandFailedError) return say(1, error.message);
  const { PaymentConfigurationError, PaymentError, PaymentValidationError } =
    await import('../errors/payment-errors.js');
  const isWrongInput = error instanceof PaymentConfigurationError || error instanceof PaymentValidationError;
  return say(isWrongInput ? 2 : 1, error instanceof PaymentError ? error.message : kindOf(error));
}

/** The message of a driver's error, or of a bug, is not shown: it may hold a statement's values or a password. */
function kindOf(error: unknown): string {
  const { name, code } = Object(error) as { readonly name?: unknown; readonly code?: unknown };
  const kind = [name, code].filter((part) => typeof part === 'string' && /^\w{1,60}$/.test(part)).join(' ');
  return `Unexpected error (${kind || 'no reason was given'}): please report it.`;
}

function packageVersion(): string {
  const { version } = createRequire(import.meta.url)('../../../package.json') as { readonly version: string };
  return escaped(version);
}

/** The help of all commands, or of those of a group: `payments `. */
function helpOfAll(group = ''): string {
  const commands = Object.entries(COMMANDS).filter(([name]) => name.startsWith(group));
  const list = rows(commands.map(([name, { args, summary }]) => [[name, ...args].join(' '), summary]));
  if (group !== '') {
    return `Usage: nestjs-card-payment ${group}COMMAND [OPTIONS]

Commands:
${list}

"nestjs-card-payment ${group}COMMAND --help" explains each of them.
`;
  }
  return `nestjs-card-payment: card payments for NestJS

Usage: nestjs-card-payment COMMAND [OPTIONS]

Commands:
${list}

Options of every command:
${rows([
  ['--help, -h', 'Shows the help of a command; so does "help COMMAND".'],
  ['--version, -v', 'Shows the version.'],
])}

${STATUSES}`;
}

function helpOf(name: string, { summary, args, options, notes }: Command): string {
  const names = options.map((option): [string, string] => {
    const { about, ...more } = OPTIONS[option];
    return [`--${option}${'value' in more ? ` ${more.value}` : ''}`, about];
  });
  return `${summary}

Usage: nestjs-card-payment ${[name, ...args].join(' ')} [OPTIONS]

Options:
${rows([...names, ['--help, -h', OPTIONS.help.about]])}
${notes === undefined ? '' : `\n${notes}\n`}
${STATUSES}`;
}

function rows(pairs: readonly (readonly [string, string])[]): string {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, about]) => `  ${name.padEnd(width)}  ${about}`).join('\n');
}
