import { existsSync, statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { nearest } from '../options/near-misses.js';
import { shownUrl } from '../store/store-url.js';
import { type Command, type CommandOptions, HELP_OPTION, UsageError } from './command.js';

interface ParsedWords {
  readonly words: readonly string[];
  /** By the name of the option, each of the type that the command declares. */
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Parses the words that follow a command's name.
 * @returns null if they ask for its help
 * @throws UsageError
 */
export function parseWords({ name, words, options }: Command, args: readonly string[]): ParsedWords | null {
  const known = { ...options, ...HELP_OPTION };
  const lenient = parseArgs({ args: [...args], options: known, strict: false, allowPositionals: true, tokens: true });
  for (const token of lenient.tokens) {
    if (token.kind === 'option' && !Object.hasOwn(known, token.name)) {
      throw new UsageError(unknownOption(name, token.rawName, Object.keys(known)));
    }
  }
  if (lenient.values['help'] === true) return null;
  const { values, positionals } = strictly(args, known);
  const missing = words[positionals.length];
  if (missing !== undefined && !missing.startsWith('['))
    throw new UsageError(`"${name}" takes ${words.join(' ')}: ${missing} is missing.`);
  const surplus = positionals[words.length];
  if (surplus !== undefined) throw new UsageError(`"${name}" has no use for the argument "${shownWord(surplus)}".`);
  return { words: positionals, values };
}

/** A word as it was typed, unless it is a URL, perhaps with a password. */
export function shownWord(word: string): string {
  return word.includes('://') ? shownUrl(word) : word;
}

function strictly(args: readonly string[], options: CommandOptions) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    const { message } = error as Error;
    throw new UsageError(message.split('\n', 1)[0] ?? message);
  }
}

function unknownOption(name: string, option: string, known: readonly string[]): string {
  const typed = option.replace(/^-+/, '');
  // `--env-file` does not reach this: Node.js consumes it, wherever it stands.
  const near = nearest(typed, known) ?? known.find((name) => typed.startsWith(`${name}-`)) ?? null;
  const meant = near === null ? '' : ` Did you mean --${near}?`;
  return `"${name}" has no option ${option}.${meant}`;
}

const DEFAULT_FILE = '.env';

/**
 * Reads variables from a file into the process, as `ConfigModule` does: variables that are set already win.
 * @param file by default `.env` in the working directory, if it exists
 * @returns the file that was read; null if there was none
 * @throws UsageError when it cannot be read
 */
export function loadEnvironmentFile(file: string | undefined): string | null {
  const name = file ?? DEFAULT_FILE;
  if (!existsSync(name)) {
    if (file === undefined) return null;
    throw new UsageError(`--env: there is no file ${file}.`);
  }
  if (statSync(name).isDirectory()) {
    if (file === undefined) return null;
    throw new UsageError(`--env: ${file} is a folder.`);
  }
  try {
    process.loadEnvFile(name);
    return name;
  } catch {
    throw new UsageError(`${name} cannot be read; may this user read it?`);
  }
}
