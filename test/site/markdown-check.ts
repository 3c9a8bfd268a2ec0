import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LINK = /\]\(([^()\s]+)\)/g;
const FIRST_LINE = /^(?:# \S|<p class="eyebrow">)/;

/**
 * Each page is there as Markdown, whose links lead somewhere, and stands in `llms.txt` once.
 *
 * @param pages of the site, as in `tr/refunds`; a start page is the name of its folder
 * @param address of the start page
 */
export function markdownProblems(folder: string, pages: readonly string[], address: string): string[] {
  const files = pages.map((page) => (page === '' || page.endsWith('/') ? `${page}index.md` : `${page}.md`));
  const listed = linksIn(join(folder, 'llms.txt'));
  const expected = files.map((file) => address + file);
  return [
    ...files.flatMap((file) => problemsOf(folder, file, address)),
    ...expected.filter((link) => !listed.includes(link)).map((link) => `llms.txt: does not list ${link}`),
    ...listed
      .filter((link, index) => !expected.includes(link) || listed.indexOf(link) < index)
      .map((link) => `llms.txt: lists what is no page, or a page twice: ${link}`),
  ];
}

function problemsOf(folder: string, file: string, address: string): string[] {
  if (!existsSync(join(folder, file))) return [`/${file}: is missing`];
  const isPage = FIRST_LINE.test(readFileSync(join(folder, file), 'utf8'));
  const dead = linksIn(join(folder, file)).filter((link) => isDead(folder, link, address));
  const html = readFileSync(join(folder, file.replace(/md$/, 'html')), 'utf8');
  const isLinked = html.includes(`type="text/markdown" href="${new URL(address).pathname}${file}"`);
  return [
    ...(isLinked ? [] : [`/${file}: its HTML has no link to it`]),
    ...(isPage ? [] : [`/${file}: does not begin with its heading`]),
    ...dead.map((link) => `/${file}: leads to nothing: ${link}`),
  ];
}

function isDead(folder: string, link: string, address: string): boolean {
  if (link.startsWith(address)) return !existsSync(join(folder, link.slice(address.length).replace(/#.*/, '')));
  return !/^(?:https?:|mailto:|#)/.test(link);
}

function linksIn(file: string): string[] {
  const prose = readFileSync(file, 'utf8').replace(/^( *)```[\s\S]*?^\1```$/gm, '');
  return Array.from(prose.matchAll(LINK), ([, link = '']) => link);
}
