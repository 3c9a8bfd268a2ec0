import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { MarkdownOptions } from 'vitepress';
import { sitePageOf } from './pages.js';

type Markdown = Parameters<NonNullable<MarkdownOptions['config']>>[0];
type Token = ReturnType<Markdown['parse']>[number];

/** What VitePress says of the page that is being rendered. */
interface Page {
  /** Where the page will be. */
  readonly path: string;
  /** Its file, where that is another. */
  readonly realPath?: string;
}

const fileOf = ({ path, realPath = path }: Page): string => realPath;

const DIAGRAM = /\/diagrams\/[\w-]+\.svg$/;

export function markdownOptions(repository: string): MarkdownOptions {
  return {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    languageAlias: { promql: 'txt' },
    // The anchors that GitHub gives to headings, so that a link leads to the same place in both.
    anchor: { slugify: githubSlug },
    config(md) {
      md.core.ruler.push('links', ({ tokens, env }) => {
        for (const token of inlineTokensOf(tokens)) {
          const href = token.type === 'link_open' ? token.attrGet('href') : null;
          if (href) token.attrSet('href', leadHome(href, fileOf(env as Page), repository));
        }
      });
      md.core.ruler.push('tables', ({ tokens }) => labelCells(tokens));
      // VitePress writes each table without the attributes that it was given.
      md.renderer.rules.table_open = (tokens, index, options, _env, self) => self.renderToken(tokens, index, options);
      const code = md.renderer.rules.code_inline!;
      md.renderer.rules.code_inline = (...args) => keepWords(code(...args));
      const image = md.renderer.rules.image!;
      md.renderer.rules.image = (tokens, index, options, env: Page, self) => {
        const token = tokens[index]!;
        const file = join(dirname(fileOf(env)), token.attrGet('src') ?? '');
        return DIAGRAM.test(file) ? drawn(file, token.content) : image(tokens, index, options, env, self);
      };
    },
  };
}

function githubSlug(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replace(/ /g, '-');
}

/** A link to a file of the repository leads to its page; one to a file that is no page leads to GitHub. */
export function leadHome(href: string, page: string, repository: string): string {
  if (/^(?:[a-z]+:|\/|#)/.test(href)) return href;
  const [, path = '', hash = ''] = /^([^#]*)(#.*)?$/.exec(href)!;
  const file = relative(process.cwd(), join(dirname(page), path));
  if (file.startsWith('site/')) return href;
  const target = sitePageOf(file);
  if (target !== null) return `/${target}${hash}`;
  // One that is nowhere stays as it is: VitePress names it as dead.
  return existsSync(file) ? `${repository}/blob/main/${file}${hash}` : href;
}

/** On a phone a row is shown as a list, for which each cell needs the name of its column. */
function labelCells(tokens: readonly Token[]): void {
  let names: string[] = [];
  let column = 0;
  tokens.forEach((token, index) => {
    if (token.type === 'table_open') {
      names = [];
      token.attrSet('tabindex', '0');
    } else if (token.type === 'th_open') {
      const name = tokens[index + 1]!.content.replace(/[`*_]/g, '');
      names.push(name);
      // An empty corner is no heading.
      if (name === '') token.tag = tokens[index + 2]!.tag = 'td';
    } else if (token.type === 'tr_open') column = 0;
    else if (token.type === 'td_open' && names.length > 2) token.attrSet('data-column', names[column++] ?? '');
  });
}

/** Browsers break lines after any hyphen, so `--version` would be torn apart. Longer words may need it on a phone. */
const SHORT_WORD = /(?<![^\s>])[^\s<>]{0,24}-[^\s<>]{0,24}(?![^\s<])/g;

function keepWords(code: string): string {
  return code.replace(SHORT_WORD, (word) => (word.length > 24 ? word : `<span class="word">${word}</span>`));
}

/** A diagram as part of the page: it follows the page's colours, and its text can be read and searched. */
function drawn(file: string, alt: string): string {
  const svg = readFileSync(file, 'utf8')
    .replace(/<style>[\s\S]*?<\/style>/, '')
    .replace('<svg ', `<svg role="img" aria-label="${alt.replace(/"/g, '&quot;')}" `);
  return `<span class="diagram" tabindex="0" role="group" aria-label="Diagram" v-pre>${svg.replace(/\n\s*/g, '')}</span>`;
}

function inlineTokensOf(tokens: readonly Token[]): readonly Token[] {
  return tokens.flatMap(({ children }) => children ?? []);
}
