import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { differences, linksOf, originalOf, type Page } from './translations.js';

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
    expect(differences(pageAt(originalOf(path)), pageAt(path))).toEqual([]);
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
  const ENGLISH = [
    '# Pay',
    '',
    'Call `pay` ([more](more.md#how)).',
    '',
    '```ts',
    '// src/pay.ts',
    'pay(1); // once',
    '```',
    '',
    '## Then',
    '',
    '- Wait.',
    '- Look.',
    '',
    '| what | when |',
    '| ---- | ---- |',
    '| `paid` | now |',
    '',
  ].join('\n');
  const TURKISH = ENGLISH.replace('# Pay', '# Ödeme')
    .replace('Call `pay` ([more](more.md#how)).', '`pay` çağrılır ([ayrıntılar](../more.md#how)).')
    .replace('// once', '// bir kez')
    .replace('## Then', '## Sonra')
    .replace('Wait.', 'Bekleyin.');

  it('may differ in prose, headings and comments', () => expect(compared(TURKISH)).toEqual([]));

  it.each([
    ['a heading', '## Sonra', '### Sonra', /headings/],
    ['a name', '`pay` çağrılır', '`charge` çağrılır', /# Ödeme, names: pay -> charge/],
    ['a link', 'more.md#how', 'more.md#why', /links: docs\/more.md#how -> docs\/more.md#why/],
    ['code', 'pay(1);', 'pay(2);', /# Ödeme, code/],
    ['the name of a file', 'src/pay.ts', 'src/charge.ts', /# Ödeme, code/],
    ['a comment that is missing', ' // bir kez', '', /# Ödeme, code/],
    ['an item of a list', '- Look.\n', '', /## Sonra, items of lists: 2 -> 1/],
    ['a row of a table', '| `paid` | now |\n', '', /## Sonra, tables/],
  ])('may not differ in %s', (_what, from, to, difference) => {
    const changed = TURKISH.replace(from, to);
    expect(changed).not.toBe(TURKISH);
    expect(compared(changed).join('\n')).toMatch(difference);
  });

  function compared(turkish: string): string[] {
    return differences({ path: 'docs/pay.md', text: ENGLISH }, { path: 'docs/tr/pay.md', text: turkish });
  }
});

describe('npm run translated', () => {
  const ENGLISH =
    '# Pay\n\nPay once, and wait for the outcome.\n\n| what   | when |\n| ------ | ---- |\n| `paid` | now  |\n';
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'card-payment-translated-'));
    write('docs/pay.md', ENGLISH);
    write('docs/tr/pay.md', '# Ödeme\n');
    write('README.md', '# Readme\n');
    write('docs/README.tr.md', '# Beni oku\n');
    expect(translated(folder, 'docs/tr/pay.md', 'docs/README.tr.md')).toMatchObject({ status: 0, stderr: '' });
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('leaves the text of a page as it is, and its note alone when it is run again', () => {
    const page = readFileSync(join(folder, 'docs/tr/pay.md'), 'utf8');
    expect(page).toMatch(/^# Ödeme\n\n<!-- translated from docs\/pay.md, [0-9a-f]{16} -->\n$/);
    translated(folder, 'docs/tr/pay.md');
    expect(readFileSync(join(folder, 'docs/tr/pay.md'), 'utf8')).toBe(page);
  });

  it.each([
    ['other line endings', ENGLISH.replaceAll('\n', '\r\n')],
    ['other line breaks', ENGLISH.replace('and wait', 'and\nwait')],
    ['a wider table', ENGLISH.replace('------', '---------').replace('`paid` ', '`paid`    ')],
  ])('does not take %s for a change', (_what, english) => {
    write('docs/pay.md', english);
    expect(translated(folder)).toMatchObject({ status: 0, stderr: '' });
  });

  it.each([
    ['a word', ENGLISH.replace('once', 'twice')],
    ['code', `${ENGLISH}\n\`\`\`sh\nnpm test\n\`\`\`\n`],
  ])('names the page, and says what to do, when %s has changed', (_what, english) => {
    write('docs/pay.md', english);
    const { status, stderr } = translated(folder);
    expect(status).toBe(1);
    expect(stderr).toContain('docs/tr/pay.md is behind docs/pay.md.');
    expect(stderr).toMatch(
      /git diff \$\(git log -1 --format=%h -S [0-9a-f]{16} -- docs\/tr\/pay\.md\) -- docs\/pay\.md/,
    );
    expect(stderr).toContain('npm run translated -- docs/tr/pay.md');
    expect(stderr).not.toContain('README');
    translated(folder, 'docs/tr/pay.md');
    expect(translated(folder).status).toBe(0);
  });

  it('names a page that has no note, and one that has no English page', () => {
    write('docs/README.tr.md', '# Beni oku\n');
    write('docs/tr/old.md', '# Eski\n');
    const { status, stderr } = translated(folder);
    expect(status).toBe(1);
    expect(stderr).toContain('docs/README.tr.md does not say which text it was translated from');
    expect(stderr).toContain('docs/tr/old.md has no English page');
  });

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
});

function translated(cwd: string, ...pages: string[]): { readonly status: number | null; readonly stderr: string } {
  return spawnSync(process.execPath, [SCRIPT, ...pages], { cwd, encoding: 'utf8' });
}

function pageAt(path: string): Page {
  return { path, text: readFileSync(path, 'utf8') };
}
