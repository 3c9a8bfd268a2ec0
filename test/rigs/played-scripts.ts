import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ExpectedTexts } from './expected-texts.js';

export interface Script {
  readonly title: string;
  readonly steps: readonly string[];
  /** All of it, with what its steps show. */
  readonly text: string;
}

/** What comes of a script, whose name is that of its file with a number. */
type Play = (script: Script, name: string) => Promise<string>;

/**
 * Tests that scripts come out as in these files of the folder `expected` beside a suite. A file holds scripts: a title,
 * steps, and below each step what it shows. For a new script, write its title and steps into a file, and have the rest
 * written by UPDATE_EXPECTED=1.
 *
 * @param suite its `import.meta.url`
 */
export function itPlays(suite: string, files: readonly string[], play: Play): void {
  it.each(files)('scripts come out as in %s', (file) => expectScripts(suite, file, play), 120_000);
  itHasNoOtherScripts(suite, files);
}

export async function expectScripts(suite: string, file: string, play: Play): Promise<void> {
  const played: string[] = [];
  for (const [number, script] of scriptsIn(playedText(suite, file)).entries()) {
    played.push(await play(script, `${basename(file, '.txt')}${number}`));
  }
  new ExpectedTexts(suite).expect(file, `${played.join('\n\n')}\n`);
}

export function itHasNoOtherScripts(suite: string, files: readonly string[]): void {
  it('there is no other file of scripts', () => new ExpectedTexts(suite).expectNoOthers(files));
}

/** The text of a file of scripts. */
export function playedText(suite: string, file: string): string {
  return readFileSync(fileURLToPath(new URL(`expected/${file}`, suite)), 'utf8');
}

/** The title of a script stands at the beginning of a line, and its steps are indented by two spaces. */
export function scriptsIn(text: string): Script[] {
  return text.split(/\n+(?=\S)/).map((section) => {
    const [title = '', ...lines] = section.split('\n');
    const steps = lines.filter((line) => /^ {2}\S/.test(line)).map((line) => line.trim());
    return { title, steps: steps.filter((step) => step !== 'afterwards'), text: section };
  });
}
