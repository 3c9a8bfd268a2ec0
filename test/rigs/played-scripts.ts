import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ExpectedTexts } from './expected-texts.js';

export interface Script {
  readonly title: string;
  readonly steps: readonly string[];
}

/**
 * Tests that scripts come out as in these files of the folder `expected` beside a suite. A file holds scripts: a title,
 * steps, and below each step what it shows. For a new script, write its title and steps into a file, and have the rest
 * written by UPDATE_EXPECTED=1.
 *
 * @param suite its `import.meta.url`
 * @param play what comes of a script
 */
export function itPlays(suite: string, files: readonly string[], play: (script: Script) => Promise<string>): void {
  const texts = new ExpectedTexts(suite);

  it.each(files)(
    'scripts come out as in %s',
    async (file) => {
      const played: string[] = [];
      for (const script of scriptsIn(playedText(suite, file))) played.push(await play(script));
      texts.expect(file, `${played.join('\n\n')}\n`);
    },
    120_000,
  );

  it('there is no other file of scripts', () => texts.expectNoOthers(files));
}

/** The text of a file of scripts. */
export function playedText(suite: string, file: string): string {
  return readFileSync(fileURLToPath(new URL(`expected/${file}`, suite)), 'utf8');
}

/** The title of a script stands at the beginning of a line, and its steps are indented by two spaces. */
function scriptsIn(text: string): Script[] {
  return text.split(/\n+(?=\S)/).map((section) => {
    const [title = '', ...lines] = section.split('\n');
    const steps = lines.filter((line) => /^ {2}\S/.test(line)).map((line) => line.trim());
    return { title, steps: steps.filter((step) => step !== 'afterwards') };
  });
}
