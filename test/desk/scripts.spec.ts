import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PLATFORMS } from '../e2e/merchant.js';
import { ExpectedTexts } from '../rigs/expected-texts.js';
import { ScriptedDesk } from './scripted-desk.js';

/**
 * Each of these files holds scripts and what comes of them: a title, its steps, and below each step what staff see. For
 * a new script, write its title and steps into a file, and have the rest written by UPDATE_EXPECTED=1.
 */
const FILES = ['payments.txt', 'access.txt'];
const TEXTS = new ExpectedTexts(import.meta.url);

describe.each(PLATFORMS)('a desk on %s', (platform) => {
  let shared: ScriptedDesk;
  beforeAll(async () => {
    shared = await ScriptedDesk.start(platform);
  });
  afterAll(() => shared.close());

  async function played([title = '', ...steps]: readonly string[], first: Map<string, string[]>): Promise<string> {
    const given = steps.find((step) => step.startsWith('given '))?.slice('given '.length);
    if (given === undefined) return shared.play(title, steps, first);
    const desk = await ScriptedDesk.start(platform, given);
    return desk.play(title, steps, first).finally(() => desk.close());
  }

  it.each(FILES)('shows and does what is in %s', async (file) => {
    const [first, texts] = [new Map<string, string[]>(), [] as string[]];
    for (const script of scriptsIn(file)) texts.push(await played(script, first));
    TEXTS.expect(file, `${texts.join('\n\n')}\n`);
  });
});

it('there is no other file of scripts', () => TEXTS.expectNoOthers(FILES));

/** The title of a script stands at the beginning of a line, and its steps are indented by two spaces. */
function scriptsIn(file: string): string[][] {
  const sections = readFileSync(join(import.meta.dirname, 'expected', file), 'utf8').split(/\n+(?=\S)/);
  return sections.map((section) => section.split('\n').flatMap((line) => /^(?: {2})?(\S.*)$/.exec(line)?.[1] ?? []));
}
