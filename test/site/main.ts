/**
 * Looks at each page of the built site in Chromium: `npm run docs && npm run check:site`. Words name pages by a part of
 * their address; `--pictures FOLDER` keeps what each looks like.
 */
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { launchBrowser } from '../browser/browser.js';
import { checkPage, type CheckedPage } from './page-check.js';
import { serveSite } from './site-server.js';

const FOLDER = 'site/html';
const BASE = '/nestjs-card-payment/';
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
await browser.close();
site.close();

// A link to a heading can be judged once all pages have been read.
const dead = chosen.length === all.length ? deadLinks() : [];
for (const link of dead) console.error(link);
const problems = [...checked.values()].reduce((sum, page) => sum + page.problems.length, dead.length);
console.log(`${checked.size} pages of the site, ${problems} problems`);
process.exitCode = problems > 0 || checked.size === 0 ? 1 : 0;

function deadLinks(): string[] {
  return [...checked].flatMap(([name, { links }]) =>
    [...new Set(links)]
      .filter((link) => link.startsWith(`${site.origin}/`))
      .filter((link) => {
        const { pathname, hash } = new URL(link);
        const target = checked.get(decodeURIComponent(pathname.slice(BASE.length)));
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
