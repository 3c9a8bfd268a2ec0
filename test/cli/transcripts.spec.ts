import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ExpectedTexts } from '../rigs/expected-texts.js';
import { documentedText } from './documented.js';
import { type Script, ScriptedCommands } from './scripted-commands.js';

/**
 * Each of these files holds scripts: a title, steps, and below each step what it shows. A command stands after `$`. For
 * a new script, write its title and steps into a file, and have the rest written by UPDATE_EXPECTED=1.
 */
const FILES = ['typed.txt', 'payments.txt', 'hosted.txt', 'refunds.txt', 'export.txt', 'doctor.txt'];
const TEXTS = new ExpectedTexts(import.meta.url);

describe('what commands print', () => {
  it.each(FILES)(
    'is as in %s',
    async (file) => {
      const texts: string[] = [];
      for (const script of scriptsIn(file)) texts.push(await ScriptedCommands.play(script));
      TEXTS.expect(file, `${texts.join('\n\n')}\n`);
    },
    120_000,
  );

  it('is in no other file', () => TEXTS.expectNoOthers(FILES));

  it.each([
    ['payments list', 'payments.txt'],
    ['payments refund', 'refunds.txt'],
  ])('is what the page shows of %s', (command, file) => {
    const shown = textOf(file).replaceAll(/^ {4}(?:! )?/gm, '');
    expect(shown).toContain(documentedText(command).trimEnd());
  });
});

function textOf(file: string): string {
  return readFileSync(join(import.meta.dirname, 'expected', file), 'utf8');
}

/** The title of a script stands at the beginning of a line, and its steps are indented by two spaces. */
function scriptsIn(file: string): Script[] {
  return textOf(file)
    .split(/\n+(?=\S)/)
    .map((section) => {
      const [title = '', ...lines] = section.split('\n');
      const steps = lines.filter((line) => /^ {2}\S/.test(line)).map((line) => line.trim());
      return { title, steps: steps.filter((step) => step !== 'afterwards') };
    });
}
