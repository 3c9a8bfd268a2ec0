import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** A regular expression where it is written. */
export interface FoundExpression {
  /** `lib/payment/text-language.ts: /^tr/` */
  readonly name: string;
  readonly expression: RegExp;
}

/** A file in which regular expressions are put together while it runs, and how often. */
export type Constructions = Readonly<Record<string, number>>;

/** Reads every regular expression out of the sources below some folders. */
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

/** The first ones are for what doubles with each character. */
const LENGTHS = [20, 28, 256, 1_024, 4_096, 16_384, 65_536];
/** What takes less is not worth a comparison: what grows with the square takes hundreds. */
const WORTH_COMPARING_MS = 25;
/** Four times the text takes four times as long, or with the square sixteen times. */
const MAX_GROWTH = 8;
const TRIALS = 5;

/** A text of any length. */
export type TextOf = (length: number) => string;

/**
 * Whether work takes a time that grows no faster than its input: for 64 KiB about four times as long as for 16 KiB.
 * Time of the processor is compared, the least of several, so that it does not matter what else the machine does.
 * @returns what is wrong; null where nothing is
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

/** Runs an expression at every place of a text. */
export function searchWith(expression: RegExp): (text: string) => unknown {
  const flags = [...new Set(`${expression.flags}g`)].join('');
  const everywhere = new RegExp(expression.source, flags);
  return (text) => text.replace(everywhere, '');
}

const PUMPED = [...' \t\na1A_-.,;:=+/\\"\'%&#<>({[*@', '\u0307', 'é', '４', '\u0000', '😀', '\\"', '\\\\'];
/** What nothing ends with that is searched for. */
const END = '\u0000';

/** Texts that many expressions search far and in vain: one sign over and over, also between quotes that never end. */
export const HOSTILE_TEXTS: readonly TextOf[] = ['', '"'].flatMap((start) =>
  PUMPED.map((pump) => remembered(textOf(start, pump))),
);

/** Those, and some of what the expression itself is made of. */
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

function remembered(make: TextOf): TextOf {
  const texts = new Map<number, string>();
  return (length) => {
    const text = texts.get(length) ?? make(length);
    texts.set(length, text);
    return text;
  };
}
