import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ExpectedTexts } from './expected-texts.js';

/** What comes of an input: a line, or several. */
type OutcomeOf = (input: string) => string | Promise<string>;

const MAX_LENGTH = 120;

/**
 * Compares a text in the folder `expected` beside a suite with what the code makes of its cases. A case is a line,
 * `input => outcome`, or an input whose outcome stands in the lines below it, each after `  => `. For a new case, write
 * its input below the heading (`## …`) of its kind, and have the outcome written by UPDATE_EXPECTED=1. A line that
 * begins with `#` or is empty says something to the reader.
 *
 * @param suite its `import.meta.url`
 * @param kinds by their headings; each must be in the text
 */
export async function expectCases(suite: string, file: string, kinds: Readonly<Record<string, OutcomeOf>>) {
  const lines = readFileSync(join(new URL('.', suite).pathname, 'expected', file), 'utf8')
    .trimEnd()
    .split('\n');
  const seen = new Set<string>();
  const found: string[] = [];
  let heading = '';
  for (const line of lines) {
    if (line.startsWith('  => ')) continue;
    if (line.startsWith('## ')) seen.add((heading = line.slice(3)));
    const isCase = line !== '' && !line.startsWith('#');
    const [input = ''] = line.split(' => ', 1);
    found.push(isCase ? await caseText(input, kinds[heading], heading) : line);
  }
  expect([...seen].sort()).toEqual(Object.keys(kinds).sort());
  new ExpectedTexts(suite).expect(file, `${found.join('\n')}\n`);
}

async function caseText(input: string, outcomeOf: OutcomeOf | undefined, heading: string): Promise<string> {
  if (!outcomeOf) throw new Error(`no suite has cases of "${heading}"`);
  let outcome: string;
  try {
    outcome = await outcomeOf(input);
  } catch (error) {
    throw new Error(`${heading}: ${input}`, { cause: error });
  }
  const line = `${input} => ${outcome}`;
  if (line.length <= MAX_LENGTH && !outcome.includes('\n')) return line;
  return [input, ...outcome.split('\n').map((part) => `  => ${part}`)].join('\n');
}
