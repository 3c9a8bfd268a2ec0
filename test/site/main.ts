/**
 * Looks at each page of the built site in Chromium: `npm run docs && npm run check:site`. Words name pages by a part of
 * their address; `--pictures FOLDER` keeps what each looks like.
 */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { launchBrowser } from '../browser/browser.js';
import { markdownProblems } from './markdown-check.js';
import { checkPage, type CheckedPage } from './page-check.js';
import { searchProblems } from './search-check.js';
import { serveSite } from './site-server.js';

const FOLDER = 'site/html';
const BASE = '/nestjs-card-payment/';
const ADDRESS = `https://nestjs-card-payment.github.io${BASE}`;
/** A word that pages of each language have, to be searched from its start page. */
const SEARCHED = { '': 'void', 'tr/': 'iptal' };
/** Pages that are looked at at the same time. */
const AT_ONCE = 3;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { pictures: { type: 'string' } } });
const all = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.html'))
  .map((file) => file.replace(/(?:(?<=^|\/)index)?\.html$/, ''))
  .sort();
const chosen = positionals.length > 0 ? all.filter((page) => positionals.some((word) => page.includes(word))) : all;
if (values.pictures) mkdirSync(values.pictures, { recursive: true });

const site = await serveSite(FOLDER, BASE);
const browser = await launchBrowser();
const checked = new Map<string, CheckedPage>();
const waiting = [...chosen];
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    const page = await browser.newPage();
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const found = await checkPage(page, `${site.origin}${BASE}${name}`, pictureOf(page, name));
      checked.set(name, found);
      for (const problem of found.problems) console.error(`/${name}: ${problem}`);
    }
  }),
);
// Links to headings, and what is about all pages, can be judged once all of them have been read.
const ofAll = chosen.length === all.length ? [...deadLinks(), ...(await problemsOfAll())] : [];
for (const problem of ofAll) console.error(problem);
await browser.close();
site.close();
const problems = [...checked.values()].reduce((sum, page) => sum + page.problems.length, ofAll.length);
console.log(`${checked.size} pages of the site, ${problems} problems`);
process.exitCode = problems > 0 || checked.size === 0 ? 1 : 0;

async function problemsOfAll(): Promise<string[]> {
  const pages = all.filter((name) => name !== '404');
  const problems = markdownProblems(FOLDER, pages, ADDRESS);
  const page = await browser.newPage();
  for (const [name, word] of Object.entries(SEARCHED)) {
    problems.push(
      ...(await searchProblems(page, `${site.origin}${BASE}${name}`, word)).map((what) => `/${name}: ${what}`),
    );
  }
  return problems;
}

function deadLinks(): string[] {
  return [...checked].flatMap(([name, { links }]) =>
    [...new Set(links)]
      .filter((link) => link.startsWith(`${site.origin}/`))
      .filter((link) => {
        const { pathname, hash } = new URL(link);
        const path = decodeURIComponent(pathname.slice(BASE.length));
        if (path.endsWith('.md')) return !existsSync(join(FOLDER, path));
        const target = checked.get(path);
        return target === undefined || (hash !== '' && !target.ids.includes(decodeURIComponent(hash.slice(1))));
      })
      .map((link) => `/${name}: leads to nothing: ${link.slice(site.origin.length)}`),
  );
}

function pictureOf(page: Awaited<ReturnType<typeof browser.newPage>>, name: string) {
  return async (look: string) => {
    if (!values.pictures) return;
    const file = `${name.replaceAll('/', '_') || 'start'}-${look}.png`;
    await page.screenshot({ path: join(values.pictures, file), fullPage: name !== '' });
  };
}
