import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { useScratchFolder } from '../rigs/scratch-folder.js';
import { linksOf, originalOf, type Page, structureOf } from './translations.js';

const SCRIPT = join(process.cwd(), 'scripts/translated.js');
const GUIDE = readdirSync('docs/tr')
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/tr/${name}`);

// Pages that are behind are listed by `npm run lint`, and compared once they have followed.
const behind = translated(process.cwd()).stderr;

describe.each(['docs/README.tr.md', ...GUIDE])('%s', (path) => {
  it('is the translation of an English page', () => expect(existsSync(originalOf(path))).toBe(true));

  if (behind.includes(`${path} is behind`)) return;

  it('has the headings, lists, tables, code, names and links of its English page', () => {
    expectSameStructure(pageAt(originalOf(path)), pageAt(path));
  });

  it('links to Turkish pages where they exist, by anchors that GitHub and VitePress write alike', () => {
    const links = linksOf(pageAt(path));
    const toEnglish = links.filter((link) => GUIDE.includes(link.replace(/^docs\//, 'docs/tr/').replace(/#.*/, '')));
    expect(toEnglish).toEqual([]);
    // VitePress takes accents off letters, and GitHub does not.
    const toTurkish = links.filter((link) => originalOf(link) !== link);
    expect(toTurkish.filter((link) => !/^[\w./-]+(?:#[a-z][a-z0-9-]*)?$/.test(link))).toEqual([]);
  });
});

it('the READMEs link to each other, and the Turkish one to each Turkish page', () => {
  expect(linksOf(pageAt('README.md'))).toContain('docs/README.tr.md');
  // The start page of the site says what the README says.
  const pages = GUIDE.filter((page) => page !== 'docs/tr/index.md');
  expect(linksOf(pageAt('docs/README.tr.md'))).toEqual(expect.arrayContaining(['README.md', ...pages]));
});

describe('a translation', () => {
  const text = [
    '# Pay',
    '',
    'Call `pay` ([more](more.md#how)).',
    '',
    '```ts',
    '// src/pay.ts',
    'pay(1); // once',
    '```',
    '',
    '- Wait.',
    '- Look.',
    '',
    '| what | when |',
    '| ---- | ---- |',
    '| `paid` | now |',
    '',
  ].join('\n');
  const original = { path: 'docs/pay.md', text };
  const translation = {
    path: 'docs/tr/pay.md',
    text: text.replace('# Pay', '# Ödeme').replace('Call `pay`', 'Çağrılır: `pay`').replace('more.md', '../more.md'),
  };

  it('may differ in prose, headings and comments', () => {
    const turkish = translation.text.replace('once', 'bir kez').replace('Wait.', 'Bekleyin.');
    expectSameStructure(original, { ...translation, text: turkish });
  });

  it.each([
    ['a heading', '# Ödeme', '## Ödeme', ['level']],
    ['a name', '`pay`', '`charge`', ['names']],
    ['a link', 'more.md#how', 'more.md#why', ['links']],
    ['code', 'pay(1);', 'pay(2);', ['code']],
    ['the name of a file', 'src/pay.ts', 'src/charge.ts', ['code']],
    ['a comment that is missing', ' // once', '', ['code']],
    ['an item of a list', '- Look.\n', '', ['listItems']],
    ['a row of a table', '| `paid` | now |\n', '', ['tables', 'names']],
  ])('may not differ in %s', (_what, from, to, parts) => {
    const changed = { ...translation, text: translation.text.replace(from, to) };
    expect(changed).not.toEqual(translation);
    const [wanted, found] = [original, changed].map((page) => {
      const { sections, links } = structureOf(page, original, changed);
      return { ...sections[0], links };
    });
    const differing = Object.entries(found!).filter(
      ([part, value]) => !isDeepStrictEqual(value, wanted![part as 'links']),
    );
    expect(differing.map(([part]) => part)).toEqual(parts);
  });
});

describe('npm run translated', () => {
  const ENGLISH =
    '# Pay\n\nPay once, and wait for the outcome.\n\n| what   | when |\n| ------ | ---- |\n| `paid` | now  |\n';
  const folder = useScratchFolder('translated');
  beforeEach(() => {
    folder.write('docs/pay.md', ENGLISH);
    folder.write('docs/tr/pay.md', '# Ödeme\n');
    folder.write('README.md', '# Readme\n');
    folder.write('docs/README.tr.md', '# Beni oku\n');
    expect(translated(folder.path, 'docs/tr/pay.md', 'docs/README.tr.md')).toMatchObject({ status: 0, stderr: '' });
  });

  it('leaves the text of a page as it is, and its note alone when it is run again', () => {
    const page = readFileSync(folder.file('docs/tr/pay.md'), 'utf8');
    expect(page).toMatch(/^# Ödeme\n\n<!-- translated from docs\/pay.md, [0-9a-f]{16} -->\n$/);
    translated(folder.path, 'docs/tr/pay.md');
    expect(readFileSync(folder.file('docs/tr/pay.md'), 'utf8')).toBe(page);
  });

  it.each([
    ['other line endings', ENGLISH.replaceAll('\n', '\r\n')],
    ['other line breaks', ENGLISH.replace('and wait', 'and\nwait')],
    ['a wider table', ENGLISH.replace('------', '---------').replace('`paid` ', '`paid`    ')],
  ])('does not take %s for a change', (_what, english) => {
    folder.write('docs/pay.md', english);
    expect(translated(folder.path)).toMatchObject({ status: 0, stderr: '' });
  });

  it.each([
    ['a word', ENGLISH.replace('once', 'twice')],
    ['code', `${ENGLISH}\n\`\`\`sh\nnpm test\n\`\`\`\n`],
  ])('names the page, and says what to do, when %s has changed', (_what, english) => {
    folder.write('docs/pay.md', english);
    const { status, stderr } = translated(folder.path);
    expect(status).toBe(1);
    expect(stderr).toContain('docs/tr/pay.md is behind docs/pay.md.');
    expect(stderr).toMatch(
      /git diff \$\(git log -1 --format=%h -S [0-9a-f]{16} -- docs\/tr\/pay\.md\) -- docs\/pay\.md/,
    );
    expect(stderr).toContain('npm run translated -- docs/tr/pay.md');
    expect(stderr).not.toContain('README');
    translated(folder.path, 'docs/tr/pay.md');
    expect(translated(folder.path).status).toBe(0);
  });

  it('names a page that has no note, and one that has no English page', () => {
    folder.write('docs/README.tr.md', '# Beni oku\n');
    folder.write('docs/tr/old.md', '# Eski\n');
    const { status, stderr } = translated(folder.path);
    expect(status).toBe(1);
    expect(stderr).toContain('docs/README.tr.md does not say which text it was translated from');
    expect(stderr).toContain('docs/tr/old.md has no English page');
  });
});

function translated(cwd: string, ...pages: string[]): { readonly status: number | null; readonly stderr: string } {
  return spawnSync(process.execPath, [SCRIPT, ...pages], { cwd, encoding: 'utf8' });
}

function expectSameStructure(original: Page, translation: Page): void {
  const [wanted, found] = [original, translation].map((page) => structureOf(page, original, translation));
  expect(found).toEqual(wanted);
}

function pageAt(path: string): Page {
  return { path, text: readFileSync(path, 'utf8') };
}
