import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Writes the files of a page of the guide into a project: each block of TypeScript whose first line is its path. In a
 * project of ES modules, relative imports end in `.js`, as the page says.
 * @returns their paths
 */
export function writeGuide(page: string, folder: string, modules: 'commonjs' | 'esm'): string[] {
  const blocks = readFileSync(page, 'utf8').matchAll(/^```ts\n(\/\/ (\S+\.ts)\n[\s\S]*?)^```$/gm);
  return [...blocks].map(([, code = '', path = '']) => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, modules === 'esm' ? code.replace(/from '(\.[^']*)'/g, "from '$1.js'") : code);
    return path;
  });
}
