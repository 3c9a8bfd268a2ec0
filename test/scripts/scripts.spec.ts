import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Engine, ENGINES } from '../e2e/engines.js';
import { ExpectedTexts } from '../rigs/expected-texts.js';
import { inWhole } from '../rigs/extent.js';
import { type Script, ScriptedShop } from './scripted-shop.js';

/**
 * Each of these files holds its scripts and what comes of them: a title, its steps, and below each step what a user of
 * the package sees. It is the same on every engine. For a new script, write its title and steps into a file, and have
 * the rest written by UPDATE_EXPECTED=1.
 */
const FILES = ['direct.txt', 'three-d.txt', 'hosted.txt', 'refunds.txt', 'handlers.txt'];
/** In memory alone: timers run while the store fails, or there are hundreds of passes. */
const IN_MEMORY = ['faults.txt', 'background.txt'];
const TEXTS = new ExpectedTexts(import.meta.url);

/** In the short tests two engines: that all are alike is shown by the contract of stores. */
const STARTS = Object.entries(ENGINES).filter(([name]) => inWhole(true, name === 'memory' || name === 'SQLite'));

describe.each(STARTS)('on %s', (name, start) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await start();
  });
  afterAll(() => engine.stop());

  it.each([...FILES, ...(name === 'memory' ? IN_MEMORY : [])])(
    'scripted payments and refunds come out as in %s',
    async (file) => {
      const texts: string[] = [];
      for (const [number, script] of scriptsIn(file).entries()) {
        texts.push(await ScriptedShop.play(script, engine, `${basename(file, '.txt')}${number}`));
      }
      TEXTS.expect(file, `${texts.join('\n\n')}\n`);
    },
    120_000,
  );
});

it('there is no other file of scripts', () => TEXTS.expectNoOthers([...FILES, ...IN_MEMORY]));

/** The title of a script stands at the beginning of a line, and its steps are indented by two spaces. */
function scriptsIn(file: string): Script[] {
  const sections = readFileSync(join(import.meta.dirname, 'expected', file), 'utf8').split(/\n+(?=\S)/);
  return sections.map((section) => {
    const [title = '', ...lines] = section.split('\n');
    const steps = lines.filter((line) => /^ {2}\S/.test(line)).map((line) => line.trim());
    return { title, steps: steps.filter((step) => step !== 'afterwards') };
  });
}
