import { readdirSync, readFileSync } from 'node:fs';
import { codeBlocks } from '../package/guide.js';

const STARTER = 'sample/starter';
const PAGES = ['docs/getting-started.md', 'docs/testing.md'];
const FILES = readdirSync(STARTER, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts') && !name.endsWith('.tr.ts'),
);

const textOf = (name: string): string => readFileSync(`${STARTER}/${name}`, 'utf8');

/** What pages show of files: their code, without the line that names each. */
function shown(...pages: readonly string[]): Map<string | undefined, string> {
  const blocks = pages.flatMap((page) => codeBlocks(page));
  return new Map(blocks.map(({ path, code }) => [path?.replace('.express.ts', '.ts'), code.replace(/^.*\n/, '')]));
}

it.each(FILES)('the guide shows %s as it is in the starter, which nest g generates', (name) => {
  expect(shown(...PAGES).get(name)).toBe(textOf(name));
});

// That the rest of its code is that of the English page, translations.spec.ts asserts.
it('the Turkish guide makes a Turkish shop', () => {
  expect(shown('docs/tr/getting-started.md').get('src/checkout/texts.ts')).toBe(textOf('src/checkout/texts.tr.ts'));
});
