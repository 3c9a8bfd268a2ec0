import { createRequire } from 'node:module';
import { PaymentConfigurationError, PaymentError } from '../errors/payment-errors.js';
import { nearest } from '../options/near-misses.js';
import {
  type Call,
  type Command,
  CommandFailedError,
  type CommandOptions,
  type Outcome,
  UsageError,
} from './command.js';
import { exportPaymentsCommand } from './books/export.command.js';
import { doctorCommand } from './doctor/doctor.command.js';
import { helpOf, helpOfAll, helpOfGroup } from './help.js';
import { loadEnvironmentFile, parseWords } from './parse-words.js';
import { listPaymentsCommand, paymentStatsCommand, showPaymentCommand } from './payments/look-up.commands.js';
import { parkedDeliveriesCommand, replayDeliveryCommand } from './payments/parked-deliveries.commands.js';
import {
  listRefundsCommand,
  recordRefundCommand,
  refundPaymentCommand,
  voidPaymentCommand,
} from './payments/refund.commands.js';
import { abandonPaymentCommand, inquirePaymentCommand, resolvePaymentCommand } from './payments/settle.commands.js';
import { schemaCommand } from './schema.command.js';
import { simulateCommand } from './simulate.command.js';

/** The commands, in the order in which the help lists them. */
export const COMMANDS: readonly Command[] = [
  doctorCommand,
  simulateCommand,
  schemaCommand,
  listPaymentsCommand,
  showPaymentCommand,
  paymentStatsCommand,
  inquirePaymentCommand,
  resolvePaymentCommand,
  abandonPaymentCommand,
  refundPaymentCommand,
  voidPaymentCommand,
  listRefundsCommand,
  recordRefundCommand,
  exportPaymentsCommand,
  parkedDeliveriesCommand,
  replayDeliveryCommand,
];

/** What the process prints, and how it ends. */
export interface Answer {
  readonly status: 0 | 1 | 2;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether the process keeps running until it is ended. */
  readonly staysUp?: boolean;
}

const VERSION = ['--version', '-v', 'version'];
const HELP = ['--help', '-h', 'help'];

/**
 * Shows a text before the command has ended. `closed`: nobody reads it any more; `failed`: it could not be written. It
 * never rejects.
 */
export type Show = (text: string, stream: 'stdout' | 'stderr') => Promise<'shown' | 'closed' | 'failed'>;

/**
 * Runs the command that the words name. It never rejects, and prints nothing itself.
 *
 * @param show shows what a command says before it has ended
 */
export async function answer(words: readonly string[], show: Show = () => Promise.resolve('shown')): Promise<Answer> {
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
    return await run(found, group.length > 0 ? rest : others, show);
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
  if (word === '') throw new UsageError(`"${group}" needs a command: ${names.join(', ')}.`);
  const near = nearest(word, [...new Set(firstWords)]);
  const meant =
    near === null ? `The commands are: ${[...new Set(firstWords)].join(', ')}.` : `Did you mean "${prefix}${near}"?`;
  throw new UsageError(`There is no command "${prefix}${word}". ${meant}`);
}

async function run(command: Command, args: readonly string[], show: Show): Promise<Answer> {
  const parsed = parseWords(command, args);
  if (parsed === null) return said(helpOf(command));
  const environmentFile = loadEnvironmentFile(parsed.values['env'] as string | undefined);
  const isJson = parsed.values['json'] === true;
  const outcome = await command.run({
    ...parsed,
    environment: process.env,
    environmentFile,
    announce: async (line) => void (await show(`${printable(line)}\n`, isJson ? 'stderr' : 'stdout')),
    write: async (text) => {
      const shown = await show(text, 'stdout');
      if (shown === 'failed') throw new CommandFailedError('Standard output cannot be written; is the disk full?');
      return shown === 'shown';
    },
  } as Call<CommandOptions>);
  const stderr = outcome.remark === undefined ? '' : `${printable(outcome.remark)}\n`;
  return { ...said(textOf(outcome, isJson), outcome.status), stderr, staysUp: outcome.staysUp };
}

function textOf({ text, json }: Outcome, isJson: boolean): string {
  if (text === '' && json === undefined) return '';
  return isJson ? `${JSON.stringify(json, null, 2)}\n` : `${printable(text)}\n`;
}

function said(stdout: string, status: Answer['status'] = 0): Answer {
  return { status, stdout, stderr: '' };
}

function refusal(error: unknown, command: Command | null): Answer {
  const isUsage = error instanceof UsageError;
  const help = ['nestjs-card-payment', ...(command ? [command.name] : []), '--help'].join(' ');
  const hint = isUsage ? `\n"${help}" explains it.` : '';
  const status = isUsage || error instanceof PaymentConfigurationError ? 2 : 1;
  return { status, stdout: '', stderr: `${printable(messageOf(error))}${hint}\n` };
}

/**
 * The message of any other error (a driver's, or one caused by a bug) is not shown: it may contain a statement's
 * values, an address or a password.
 */
function messageOf(error: unknown): string {
  const isForPeople =
    error instanceof UsageError || error instanceof CommandFailedError || error instanceof PaymentError;
  if (isForPeople) return error.message;
  const { name, code } = Object(error) as { readonly name?: unknown; readonly code?: unknown };
  const kind = [name, code].filter((part) => typeof part === 'string' && /^\w{1,60}$/.test(part)).join(' ');
  return `Unexpected error (${kind || 'no reason was given'}): please report it.`;
}

// eslint-disable-next-line no-control-regex
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Replaces the characters that control a terminal, except line ends and tabs. */
function printable(text: string): string {
  return text.replace(CONTROL_CHARACTERS, '\uFFFD');
}

function packageVersion(): string {
  const { version } = createRequire(import.meta.url)('../../../package.json') as { readonly version: string };
  return version;
}
