import { parseArgs } from 'node:util';
import { nearest } from '../options/near-misses.js';
import type { Command, CommandOptions } from './command.js';
import { HELP_OPTION } from './common-options.js';
import { UsageError } from './usage.error.js';

interface ParsedWords {
  readonly words: readonly string[];
  /** By the command's own options, each of the type that it says. */
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * What a command was called with.
 * @returns null where its help is wanted
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
  if (missing !== undefined) throw new UsageError(`"${name}" takes ${words.join(' ')}: ${missing} is missing.`);
  const surplus = positionals[words.length];
  if (surplus !== undefined) throw new UsageError(`"${name}" does not know what to do with "${surplus}".`);
  return { words: positionals, values };
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
  // Not --env-file: Node.js takes that for itself, wherever it stands.
  const near = nearest(typed, known) ?? known.find((one) => typed.startsWith(`${one}-`)) ?? null;
  const meant = near === null ? '' : ` Did you mean --${near}?`;
  return `"${name}" has no option ${option}.${meant}`;
}
