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
import { helpOf, helpOfAll, helpOfGroup } from './help.js';
import { loadEnvironmentFile, parseWords, shownWord } from './parse-words.js';

const lookUp = () => import('./payments/look-up.commands.js');
const settle = () => import('./payments/settle.commands.js');
const refunds = () => import('./payments/refund.commands.js');
const deliveries = () => import('./payments/parked-deliveries.commands.js');

/** The commands, in the order in which the help lists them. Each is imported when it is run, or its help is wanted. */
export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  doctor: async () => (await import('./doctor/doctor.command.js')).doctorCommand,
  simulate: async () => (await import('./simulate.command.js')).simulateCommand,
  schema: async () => (await import('./schema.command.js')).schemaCommand,
  'payments list': async () => (await lookUp()).listPaymentsCommand,
  'payments show': async () => (await lookUp()).showPaymentCommand,
  'payments stats': async () => (await lookUp()).paymentStatsCommand,
  'payments inquire': async () => (await settle()).inquirePaymentCommand,
  'payments resolve': async () => (await settle()).resolvePaymentCommand,
  'payments abandon': async () => (await settle()).abandonPaymentCommand,
  'payments refund': async () => (await refunds()).refundPaymentCommand,
  'payments void': async () => (await refunds()).voidPaymentCommand,
  'payments refunds': async () => (await refunds()).listRefundsCommand,
  'payments record-refund': async () => (await refunds()).recordRefundCommand,
  'payments export': async () => (await import('./books/export.command.js')).exportPaymentsCommand,
  'payments parked': async () => (await deliveries()).parkedDeliveriesCommand,
  'payments replay': async () => (await deliveries()).replayDeliveryCommand,
};
const NAMES = Object.keys(COMMANDS);

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
  if (first === '') return { status: 2, stdout: '', stderr: helpOfAll(await commandsOf(NAMES)) };
  if (HELP.includes(first)) {
    return others.length === 0 ? said(helpOfAll(await commandsOf(NAMES))) : answer([...others, '--help']);
  }
  let found: Command | null = null;
  try {
    const group = NAMES.filter((name) => name.startsWith(`${first} `));
    const [second = '', ...rest] = others;
    if (group.length > 0 && HELP.includes(second)) return said(helpOfGroup(first, await commandsOf(group)));
    found = await (group.length > 0 ? commandIn(group, first, second) : commandIn(NAMES, '', first))();
    return await run(found, group.length > 0 ? rest : others, show);
  } catch (error) {
    return refusal(error, found);
  }
}

function commandsOf(names: readonly string[]): Promise<Command[]> {
  return Promise.all(names.map((name) => COMMANDS[name]!()));
}

function commandIn(names: readonly string[], group: string, word: string): () => Promise<Command> {
  const prefix = group === '' ? '' : `${group} `;
  const command = names.includes(prefix + word) ? COMMANDS[prefix + word] : undefined;
  if (command) return command;
  const others = names.map((name) => name.slice(prefix.length));
  if (word === '') throw new UsageError(`"${group}" needs a command: ${others.join(', ')}.`);
  const firstWords = [...new Set(others.map((name) => name.split(' ', 1)[0] ?? ''))];
  const near = nearest(word, firstWords);
  const meant = near === null ? `The commands are: ${firstWords.join(', ')}.` : `Did you mean "${prefix}${near}"?`;
  throw new UsageError(`There is no command "${prefix}${shownWord(word)}". ${meant}`);
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
