import { readFileSync } from 'node:fs';
import { codeBlocks, guidePages, installLines } from './guide.js';

// The blocks are compiled in nest11-commonjs.spec.ts and nest12-esm.spec.ts, in applications with all that they import.
const LANGUAGES = ['ts', 'sh', 'ini', 'json', 'yaml', 'html', 'sql', 'prisma', 'mermaid', 'text', 'diff', 'promql'];

describe.each(guidePages())('%s', (page) => {
  const text = readFileSync(page, 'utf8');
  const fences = [...text.matchAll(/^ *(```|~~~)(.*)$/gm)].map(([line]) => line);

  it('names the language of each block, so that none is code that nobody compiles', () => {
    const openings = fences.filter((_, index) => index % 2 === 0);
    expect(openings.filter((opening) => !LANGUAGES.includes(opening.replace('```', '')))).toEqual([]);
  });

  it('has all its code read', () => {
    const blocks = codeBlocks(page);
    expect(blocks).toHaveLength(fences.filter((fence) => /ts|prisma/.test(fence)).length);
    const lines = text.split('\n');
    for (const { line, code } of blocks) expect(lines[line - 1]).toBe(code.split('\n')[0]);
  });

  it('has no file twice', () => {
    const paths = codeBlocks(page).flatMap(({ path }) => path ?? []);
    expect(paths).toEqual([...new Set(paths)]);
  });
});

it.each(['NestJS 11', 'NestJS 12'])('the README and the first page install the same for %s', (nest) => {
  const [readme, page] = [installLines('README.md', nest), installLines('docs/getting-started.md', nest)];
  expect(readme).toContain('nestjs-card-payment');
  expect(page.slice(0, readme.length)).toEqual(readme);
});
