import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** A block of TypeScript, or of Prisma's schema, in a page. */
export interface CodeBlock {
  /** The path of the page. */
  readonly page: string;
  /** The number of the block's first line in the page, from 1. */
  readonly line: number;
  /**
   * Its path in a project, from its first line; undefined for a block without one. `src/main.ts on Fastify` becomes
   * `src/main.fastify.ts`, next to the starter's, which is for Express.
   */
  readonly path: string | undefined;
  readonly code: string;
}

/** A block that was written to a file. */
export interface WrittenBlock extends CodeBlock {
  readonly file: string;
}

/** All pages: those at the root of the repository, and those of the guide. */
export function guidePages(): string[] {
  return ['.', 'docs', 'docs/internals'].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name)),
  );
}

export function codeBlocks(page: string, text = readFileSync(page, 'utf8')): CodeBlock[] {
  return [...text.matchAll(/^```(?:ts|prisma)\n([\s\S]*?)^```$/gm)].map(({ index, 1: code = '' }) => ({
    page,
    line: text.slice(0, index).split('\n').length + 1,
    path: pathOf(code),
    code,
  }));
}

function pathOf(code: string): string | undefined {
  const [, path, adapter] = /^\/\/ (\S+\.(?:ts|prisma))(?: on (Fastify))?\n/.exec(code) ?? [];
  return adapter === undefined ? path : path?.replace(/\.ts$/, `.${adapter.toLowerCase()}.ts`);
}

/** The settings files that a page says to write, by name. */
export function settingFiles(page: string): Map<string, string> {
  const blocks = readFileSync(page, 'utf8').matchAll(/^```ini\n# (\.env\S*)\n([\s\S]*?)^```$/gm);
  return new Map([...blocks].map(([, name = '', lines = '']) => [name, lines]));
}

/** The packages of a page's list of versions, as arguments of `npm install`, for a NestJS version and any Node but 20. */
export function listedVersions(page: string, nest: 'NestJS 11' | 'NestJS 12'): string[] {
  const items = [...readFileSync(page, 'utf8').matchAll(/^- \*\*(Both|NestJS 1\d)\*\*: (.+(?:\n {2}.+)*)/gm)];
  const listed = items.flatMap(([, of, packages = '']) => (of === 'Both' || of === nest ? packages.split(/,\s+/) : []));
  return listed.map((named) => named.replace(/\s+/, '@'));
}

const STARTER = 'sample/starter';

/** Pages whose files belong to the starter, of which they show some. */
export const STARTER_PAGES = ['docs/getting-started.md', 'docs/forms.md', 'docs/testing.md'];

/** The files of the starter, which those pages complete. */
export function starterFiles(): CodeBlock[] {
  const names = readdirSync(STARTER, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.tr.ts'))
    .map((path) => ({ page: `${STARTER}/${path}`, line: 1, path, code: readFileSync(join(STARTER, path), 'utf8') }));
}

/** The folder for the files of a page. */
function projectOf(page: string): string {
  if (page.startsWith(STARTER) || STARTER_PAGES.includes(page)) return 'getting-started';
  return basename(page, '.md').toLowerCase();
}

/**
 * Writes blocks into a folder, with one project for each page (but one for the starter and its pages). In CommonJS,
 * relative imports need no `.js`, and the pages say to leave it out.
 */
export function writeBlocks(
  blocks: readonly CodeBlock[],
  folder: string,
  imports: 'with .js' | 'bare',
): WrittenBlock[] {
  return blocks.map((block) => {
    const path = block.path ?? `src/${basename(block.page, '.md')}-${block.line}.ts`;
    const file = join(folder, projectOf(block.page), path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(
      file,
      imports === 'bare' ? block.code.replace(/(from|import) '(\.[^']*)\.js'/g, "$1 '$2'") : block.code,
    );
    return { ...block, file };
  });
}

/** The errors of a compiler with their lines in the page: `docs/events.md:7: error TS…`. */
export function findingsInPages(compiled: string, blocks: readonly WrittenBlock[], folder: string): string[] {
  return compiled
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith(' '))
    .map((line) => {
      const [, file = '', row = '', what = ''] = /^(.+?)\((\d+),\d+\): (.*)$/.exec(line) ?? [];
      const block = blocks.findLast((written) => written.file === join(folder, file));
      return block ? `${block.page}:${block.line + Number(row) - 1}: ${what}` : line;
    });
}

/** The arguments of the `npm install` lines that follow a comment, up to the next comment. */
export function installLines(page: string, comment: string): string[] {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
  const lines = blocks.flatMap((text) => text.split('\n'));
  const from = lines.findIndex((line) => line.startsWith(`# ${comment}`));
  if (from < 0) throw new Error(`${page} has no line to install for ${comment}`);
  const to = lines.findIndex((line, index) => index > from && line.startsWith('#'));
  const found = lines.slice(from + 1, to < 0 ? undefined : to).map((line) => /^npm install ([^#]*)/.exec(line)?.[1]);
  return found.flatMap((line) => line?.trim().split(/\s+/) ?? []);
}
