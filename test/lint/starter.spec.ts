import { readFileSync } from 'node:fs';
import { codeBlocks, settingFiles, STARTER_PAGES, starterFiles } from '../package/guide.js';

/** What the guide shows of the starter. The rest it links to. */
const SHOWN = ['src/app.module.ts', 'src/checkout/error-pages.filter.ts', 'test/payment-settings.ts'];

const starter = new Map(starterFiles().map(({ path, code }) => [path, code]));
/** What the pages show of files: their code, without the line that names each. */
const shown = STARTER_PAGES.flatMap((page) => codeBlocks(page)).filter(({ path }) => starter.has(path));

it('the guide shows what matters most of the starter, and links to it', () => {
  expect(shown.map(({ path }) => path).sort()).toEqual(SHOWN);
  for (const page of STARTER_PAGES) expect(readFileSync(page, 'utf8')).toContain('(../sample/starter)');
});

it.each(shown)('the guide shows $path as it is in the starter, which nest g generates', ({ path, code }) => {
  expect(code.replace(/^.*\n/, '')).toBe(starter.get(path));
});

// That the code is that of the English page, translations.spec.ts asserts.
it('the Turkish guide makes a Turkish shop', () => {
  expect(settingFiles('docs/tr/getting-started.md').get('.env')).toContain('PAYMENT_LANGUAGE=tr\n');
  expect(readFileSync('docs/tr/getting-started.md', 'utf8')).toContain('nest add nestjs-card-payment --language tr ');
});
