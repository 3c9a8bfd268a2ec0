import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** A regular expression literal in the sources. */
export interface FoundExpression {
  /** For example `lib/runtime/text-language.ts: /^tr/`. */
  readonly name: string;
  readonly expression: RegExp;
}

/** How many regular expressions each file constructs at run time. */
export type Constructions = Readonly<Record<string, number>>;

/** Finds every regular expression in the sources of some folders. */
export function expressionsIn(folders: readonly string[]): { found: FoundExpression[]; constructions: Constructions } {
  const found: FoundExpression[] = [];
  const constructions: Record<string, number> = {};
  const visit = (file: string, node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      const expression = new RegExp(node.text.slice(1, end), node.text.slice(end + 1));
      found.push({ name: `${file}: ${node.text}`, expression });
    }
    const isConstruction = (ts.isNewExpression(node) || ts.isCallExpression(node)) && ts.isIdentifier(node.expression);
    if (isConstruction && node.expression.text === 'RegExp') constructions[file] = (constructions[file] ?? 0) + 1;
    ts.forEachChild(node, (child) => visit(file, child));
  };
  for (const file of folders.flatMap(sourcesBelow)) {
    visit(file, ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest));
  }
  return { found, constructions };
}

function sourcesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.[jt]s$/.test(path))
    .map((path) => join(folder, path))
    .sort();
}

/** The short lengths are for exponential time, which doubles with each character. */
const LENGTHS = [20, 28, 256, 1_024, 4_096, 16_384, 65_536];
/** Shorter times are not compared; quadratic time takes hundreds of milliseconds. */
const WORTH_COMPARING_MS = 25;
/** Four times the length takes four times as long in linear time, and sixteen times in quadratic time. */
const MAX_GROWTH = 8;
const TRIALS = 5;

/** A text of any length. */
export type TextOf = (length: number) => string;

/**
 * Whether the time of `work` grows faster than its input, so that 64 KiB take more than about four times as long as
 * 16 KiB. The CPU time is compared, the shortest of several, so that other load on the machine does not matter.
 * @returns the problem, or null
 */
export function growthProblem(work: (text: string) => unknown, textOf: TextOf): string | null {
  const length = LENGTHS.find((one) => timeOf(work, textOf(one)) > WORTH_COMPARING_MS);
  if (length === undefined) return null;
  const [short, long] = [length / 4, length].map((one) => leastTime(work, textOf(one))) as [number, number];
  if (long <= WORTH_COMPARING_MS || long <= MAX_GROWTH * short) return null;
  return `${long.toFixed(0)} ms for ${length} characters, ${short.toFixed(1)} ms for a quarter of them`;
}

function leastTime(work: (text: string) => unknown, text: string): number {
  return Math.min(...Array.from({ length: TRIALS }, () => timeOf(work, text)));
}

function timeOf(work: (text: string) => unknown, text: string): number {
  const before = process.cpuUsage();
  work(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Searches a text for every match of an expression. */
export function searchWith(expression: RegExp): (text: string) => unknown {
  const flags = [...new Set(`${expression.flags}g`)].join('');
  const globalExpression = new RegExp(expression.source, flags);
  return (text) => text.replace(globalExpression, '');
}

const PUMPED = [...' \t\na1A_-.,;:=+/\\"\'%&#<>({[*@', '\u0307', 'é', '４', '\u0000', '😀', '\\"', '\\\\'];
/** A character with which no match ends. */
const END = '\u0000';

/** Long texts without a match: one character repeated, with and without an opening quote. */
export const HOSTILE_TEXTS: readonly TextOf[] = ['', '"'].flatMap((start) =>
  PUMPED.map((pump) => memoized(textOf(start, pump))),
);

/** The general hostile texts, and texts made of the characters of the expression itself. */
export function hostileTexts({ source }: RegExp): readonly TextOf[] {
  const words = [...new Set(source.match(/[A-Za-z0-9_]{2,}/g) ?? [])].slice(0, 4);
  const signs = [...new Set(source.replace(/[\\()[\]{}?*+|^$]/g, ''))].slice(0, 8);
  const starts = ['', ...signs.slice(0, 3), ...words.slice(0, 2)];
  const repeated = [' ', ...signs, ...words].flatMap((pump) => starts.map((start) => textOf(start, pump)));
  const alternating = signs.flatMap((one) => [' ', 'a', '1', ...signs].map((other) => textOf('', one + other)));
  return [...HOSTILE_TEXTS, ...repeated, ...alternating];
}

function textOf(start: string, pump: string): TextOf {
  return (length) => start + pump.repeat(Math.ceil(Math.max(0, length - start.length) / pump.length)) + END;
}

function memoized(make: TextOf): TextOf {
  const texts = new Map<number, string>();
  return (length) => {
    const text = texts.get(length) ?? make(length);
    texts.set(length, text);
    return text;
  };
}
