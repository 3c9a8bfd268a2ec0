import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { GUIDE, INTERNALS, ONLY_ON_GITHUB, SITE_FILES, sitePageOf, TURKISH } from '../../docs/.vitepress/pages.js';

const listed = [...GUIDE, ...INTERNALS, ...TURKISH].flatMap(({ pages }) => pages.map(({ file }) => file));
const PAGES = ['docs', 'docs/internals', 'docs/tr']
  .flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`))
  .filter((file) => file.endsWith('.md') && !file.endsWith('/index.md') && !ONLY_ON_GITHUB.includes(file));

it.each(PAGES)('%s has one place in the reading order of the site', (page) => {
  expect(listed.filter((file) => file === page)).toEqual([page]);
});

it.each(ONLY_ON_GITHUB)('%s exists, and is no page of the site', (file) => {
  expect(existsSync(file)).toBe(true);
  expect(sitePageOf(file)).toBeNull();
});

it('two pages of the site never have the same address', () => {
  const addresses = SITE_FILES.map(sitePageOf);
  expect(addresses).toEqual([...new Set(addresses)]);
});

it('the tables of verdicts in the docs are those of the code', () => {
  // If this fails: npm run verdicts
  execFileSync(process.execPath, ['scripts/print-verdicts.js', '--check'], { stdio: 'pipe' });
});

it('the diagrams are those of their tables, and each is on a page with words for those who cannot see it', () => {
  // If this fails: npm run diagrams
  execFileSync(process.execPath, ['scripts/draw-diagrams.js', '--check'], { stdio: 'pipe' });
  const text = SITE_FILES.filter((file) => existsSync(file)).map((file) => readFileSync(file, 'utf8'));
  for (const name of readdirSync('docs/diagrams')) {
    expect(text.join('\n')).toMatch(new RegExp(`!\\[[^\\]]{30,}\\]\\((?:\\.\\./|docs/)?diagrams/${name}\\)`));
  }
});
