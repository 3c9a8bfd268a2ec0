import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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

it.each([
  ['a heading', /^## /m, '### '],
  ['a name', '`orderPages`', '`orders`'],
  ['a link', '(ways-to-pay.md)', '(other.md)'],
  ['code', 'PaymentModule.forRoot(', 'PaymentModule.register('],
  ['an item of a list', /^- .*\n/m, ''],
])('%s that differs from the English page is noticed', (_what, from, to) => {
  const page = pageAt('docs/tr/getting-started.md');
  const changed = { ...page, text: page.text.replace(from, to) };
  expect(changed.text === page.text).toBe(false);
  expect(() => expectSameStructure(pageAt(originalOf(page.path)), changed)).toThrow();
});

describe('npm run translated', () => {
  const ENGLISH = '# Pay\n\nPay once, and wait for the outcome.\n';
  const folder = useScratchFolder('translated');
  beforeEach(() => {
    folder.write('docs/pay.md', ENGLISH);
    folder.write('docs/tr/pay.md', '# Ödeme\n');
    expect(translated(folder.path, 'docs/tr/pay.md')).toMatchObject({ status: 0, stderr: '' });
  });

  it('does not take other line breaks for a change', () => {
    folder.write('docs/pay.md', ENGLISH.replace('and wait', 'and\r\nwait'));
    expect(translated(folder.path)).toMatchObject({ status: 0, stderr: '' });
  });

  it('names the page when a word has changed, until it has followed', () => {
    folder.write('docs/pay.md', ENGLISH.replace('once', 'twice'));
    const { status, stderr } = translated(folder.path);
    expect([status, stderr]).toEqual([1, expect.stringContaining('docs/tr/pay.md is behind docs/pay.md.')]);
    translated(folder.path, 'docs/tr/pay.md');
    expect(translated(folder.path).status).toBe(0);
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
