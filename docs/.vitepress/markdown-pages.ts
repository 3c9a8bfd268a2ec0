import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SiteConfig } from 'vitepress';
import { leadHome } from './markdown.js';
import { GUIDE, INTERNALS, type Section, sitePageOf, TURKISH, written } from './pages.js';

const CODE_BLOCK = /^( *```[^\n]*\n[\s\S]*?^ *```)$/m;
const LINK = /\]\(([^()\s]+)\)/g;
/** Front matter, the frames of the start pages, and the notes of translations. */
const UNREAD = /(?<![\s\S])---\n[\s\S]*?\n---\n|^<\/?(?:main|div)\b.*>\n|^<!-- translated .*-->$/gm;

export interface Site {
  readonly name: string;
  readonly description: string;
  /** Of the start page, with a slash at its end. */
  readonly address: string;
  readonly repository: string;
}

interface MarkdownPage {
  /** Within the site, as in `tr/refunds.md`. */
  readonly path: string;
  readonly text: string;
}

/**
 * Writes what language models read: each page as Markdown beside its HTML, and `llms.txt`, the list of them
 * (https://llmstxt.org).
 */
export function writeMarkdown(site: Site, { srcDir, outDir, pages, rewrites }: SiteConfig): void {
  const texts = pages.map((file): MarkdownPage => {
    const path = rewrites.map[file] ?? file;
    const text = markdownOf(readFileSync(join(srcDir, file), 'utf8'), file, path, site);
    mkdirSync(dirname(join(outDir, path)), { recursive: true });
    writeFileSync(join(outDir, path), text);
    return { path, text };
  });
  writeFileSync(join(outDir, 'llms.txt'), listOf(texts, site));
}

/** The page as it stands in the repository, with links that lead to the site's own Markdown or to GitHub. */
function markdownOf(source: string, file: string, path: string, { address, repository }: Site): string {
  const targetOf = (href: string): string => {
    if (href.startsWith('#')) return href;
    const target = leadHome(href, file, repository);
    return target.startsWith('/') ? address + target.slice(1) : new URL(target, address + path).href;
  };
  const parts = source.replace(UNREAD, '').split(CODE_BLOCK);
  // Every second part is a block of code.
  const text = parts.map((part, index) =>
    index % 2 === 1 ? part : part.replace(LINK, (_link, href: string) => `](${targetOf(href)})`),
  );
  return `${text.join('').trim()}\n`;
}

function listOf(pages: readonly MarkdownPage[], { name, description, address }: Site): string {
  const lineOf = (path: string | null, title: string): string => `- [${title}](${address}${path})`;
  const linesIn = (folder: RegExp): string =>
    pages
      .filter(({ path }) => folder.test(path))
      .map(({ path, text }) => lineOf(path, titleOf(text)))
      .join('\n');
  const sectionsOf = (sections: readonly Section[]): string[] =>
    written(sections).flatMap(({ title, pages: own }) => [
      `## ${title}`,
      own.map(({ file, name: shown }) => lineOf(sitePageOf(file), shown)).join('\n'),
    ]);
  const blocks = [
    `# ${name}`,
    `> ${description}`,
    'Each page of the site as Markdown, in English and, at the end, in Turkish. The start pages:',
    linesIn(/^(?:tr\/)?index\.md$/),
    ...sectionsOf([...GUIDE, ...INTERNALS]),
    '## API reference',
    linesIn(/^reference\//),
    ...sectionsOf(TURKISH),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function titleOf(text: string): string {
  return /^# (.+)$/m.exec(text)?.[1] ?? '';
}
