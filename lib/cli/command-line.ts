import { PaymentConfigurationError, PaymentError } from '../errors/payment-errors.js';
import { nearest } from '../options/near-misses.js';
import type { Call, Command, CommandOptions, Outcome } from './command.js';
import { CommandFailedError } from './command-failed.error.js';
import { COMMANDS } from './commands.js';
import { loadEnvironmentFile } from './environment-file.js';
import { helpOf, helpOfAll, helpOfGroup } from './help.js';
import { parseWords } from './parse-words.js';
import { printable } from './printable.js';
import { UsageError } from './usage.error.js';
import { packageVersion } from './version.js';

/** What a process that was called with some words prints, and how it ends. */
export interface Answer {
  readonly status: 0 | 1 | 2;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether the process goes on until it is ended. */
  readonly staysUp?: boolean;
}

const VERSION = ['--version', '-v', 'version'];
const HELP = ['--help', '-h', 'help'];

/** Does what the words say. It never rejects, and prints nothing itself. */
export async function answer(words: readonly string[]): Promise<Answer> {
  const [first = '', ...others] = words;
  if (VERSION.includes(first)) return said(`${packageVersion()}\n`);
  if (HELP.includes(first)) return others.length === 0 ? said(helpOfAll(COMMANDS)) : answer([...others, '--help']);
  if (first === '') return { status: 2, stdout: '', stderr: helpOfAll(COMMANDS) };
  let found: Command | null = null;
  try {
    const group = COMMANDS.filter(({ name }) => name.startsWith(`${first} `));
    const [second = '', ...rest] = others;
    if (group.length > 0 && HELP.includes(second)) return said(helpOfGroup(first, group));
    found = group.length > 0 ? commandIn(group, first, second) : commandIn(COMMANDS, '', first);
    return await run(found, group.length > 0 ? rest : others);
  } catch (error) {
    return refusal(error, found);
  }
}

function commandIn(commands: readonly Command[], group: string, word: string): Command {
  const prefix = group === '' ? '' : `${group} `;
  const command = commands.find(({ name }) => name === prefix + word);
  if (command) return command;
  const names = commands.map(({ name }) => name.slice(prefix.length));
  const firstWords = names.map((name) => name.split(' ', 1)[0] ?? '');
  if (word === '') throw new UsageError(`"${group}" takes a command: ${names.join(', ')}.`);
  const near = nearest(word, [...new Set(firstWords)]);
  const meant =
    near === null ? `There are: ${[...new Set(firstWords)].join(', ')}.` : `Did you mean "${prefix}${near}"?`;
  throw new UsageError(`There is no command "${prefix}${word}". ${meant}`);
}

async function run(command: Command, args: readonly string[]): Promise<Answer> {
  const parsed = parseWords(command, args);
  if (parsed === null) return said(helpOf(command));
  const environmentFile = loadEnvironmentFile(parsed.values['env'] as string | undefined);
  const outcome = await command.run({ ...parsed, environment: process.env, environmentFile } as Call<CommandOptions>);
  return { ...said(textOf(outcome, parsed.values['json'] === true), outcome.status), staysUp: outcome.staysUp };
}

function textOf({ text, json }: Outcome, isJson: boolean): string {
  return isJson ? `${JSON.stringify(json, null, 2)}\n` : `${printable(text)}\n`;
}

function said(stdout: string, status: Answer['status'] = 0): Answer {
  return { status, stdout, stderr: '' };
}

function refusal(error: unknown, command: Command | null): Answer {
  const isUsage = error instanceof UsageError;
  const help = ['nestjs-card-payment', ...(command ? [command.name] : []), '--help'].join(' ');
  const hint = isUsage ? `\n"${help}" says more.` : '';
  const status = isUsage || error instanceof PaymentConfigurationError ? 2 : 1;
  return { status, stdout: '', stderr: `${printable(messageOf(error))}${hint}\n` };
}

/** What a driver or a bug threw may hold a statement's values, an address or a password: it is not shown. */
function messageOf(error: unknown): string {
  const isForPeople =
    error instanceof UsageError || error instanceof CommandFailedError || error instanceof PaymentError;
  if (isForPeople) return error.message;
  const { name, code } = Object(error) as { readonly name?: unknown; readonly code?: unknown };
  const kind = [name, code].filter((part) => typeof part === 'string' && /^\w{1,60}$/.test(part)).join(' ');
  return `Something went wrong that should not (${kind || 'no reason was given'}): please report it.`;
}
