import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { transform, version } from '@swc/core';
import { SWC_OPTIONS } from './swc-options.mjs';

const OPTIONS = { sourceMaps: 'inline', ...SWC_OPTIONS };
/** Tests start hundreds of processes; each file is compiled once. */
const CACHE = new URL('../node_modules/.cache/typescript-hooks/', import.meta.url);

/** Where there is no `.js` file, its `.ts` source is meant. */
export async function resolve(specifier, context, next) {
  if (specifier.startsWith('.') && specifier.endsWith('.js') && !context.parentURL?.includes('/node_modules/')) {
    const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
    if (existsSync(source)) return next(source.href, context);
  }
  return next(specifier, context);
}

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  return { format: 'module', source: await compiled(fileURLToPath(url)), shortCircuit: true };
}

async function compiled(filename) {
  const text = await readFile(filename, 'utf8');
  const key = createHash('sha256')
    .update(JSON.stringify([filename, text, version, OPTIONS]))
    .digest('hex');
  const kept = new URL(`${key}.js`, CACHE);
  try {
    return await readFile(kept, 'utf8');
  } catch {
    const { code } = await transform(text, { filename, ...OPTIONS });
    await mkdir(CACHE, { recursive: true });
    // Two processes may compile the same file at once; neither reads half of it.
    const own = new URL(`${key}.${process.pid}`, CACHE);
    await writeFile(own, code);
    await rename(own, kept);
    return code;
  }
}
