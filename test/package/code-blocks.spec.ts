import { readFileSync } from 'node:fs';
import { codeBlocks, guidePages, installLines } from './guide.js';

// The blocks are compiled in nest11-commonjs.spec.ts and nest12-esm.spec.ts, in applications with everything they import.
const LANGUAGES = ['ts', 'sh', 'ini', 'json', 'yaml', 'html', 'sql', 'prisma', 'text', 'diff', 'promql'];

describe.each(guidePages())('%s', (page) => {
  const text = readFileSync(page, 'utf8');
  const fences = [...text.matchAll(/^ *(```|~~~)(.*)$/gm)].map(([line]) => line);

  it('has a known language for each block, so that no code is left uncompiled', () => {
    const openings = fences.filter((_, index) => index % 2 === 0);
    expect(openings.filter((opening) => !LANGUAGES.includes(opening.replace('```', '')))).toEqual([]);
  });

  it('has all its code blocks found', () => {
    const blocks = codeBlocks(page);
    expect(blocks).toHaveLength(fences.filter((fence) => /ts|prisma/.test(fence)).length);
    const lines = text.split('\n');
    for (const { line, code } of blocks) expect(lines[line - 1]).toBe(code.split('\n')[0]);
  });
});

it.each(['NestJS 11', 'NestJS 12'])('the README and the first page install the same packages for %s', (nest) => {
  const [readme, page] = [installLines('README.md', nest), installLines('docs/getting-started.md', nest)];
  expect(readme).toContain('nestjs-card-payment');
  expect(page.slice(0, readme.length)).toEqual(readme);
});
