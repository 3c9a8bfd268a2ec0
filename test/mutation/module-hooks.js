// Lets Node run the tests and the code as Jest does: TypeScript as it stands, and the package's own name.
import { readFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transform } from '@swc/core';
import { resolve as resolveSource } from '../../bench/typescript-hooks.mjs';
import jestConfig from '../../jest.config.js';

const [, swcOptions] = jestConfig.transform['^.+\\.ts$'];
const GLOBALS = new URL('spec-globals.js', import.meta.url).href;

let root;
const sources = new Map();

export function initialize(data) {
  root = data.root;
}

/** A file that is imported with a query is a separate module, and so is everything that it imports. */
export async function resolve(specifier, context, next) {
  if (specifier === '@jest/globals') return { url: GLOBALS, format: 'module', shortCircuit: true };
  const resolved = await resolveSource(mapped(specifier), context, next);
  const [, query] = context.parentURL?.split('?') ?? [];
  if (!query || !new URL(resolved.url).pathname.startsWith(`${root}/`)) return resolved;
  return { ...resolved, url: `${resolved.url}?${query}` };
}

function mapped(specifier) {
  for (const [pattern, target] of Object.entries(jestConfig.moduleNameMapper)) {
    const expression = new RegExp(pattern);
    if (target.startsWith('<rootDir>') && expression.test(specifier)) {
      return pathToFileURL(specifier.replace(expression, target.replace('<rootDir>', root))).href;
    }
  }
  return specifier;
}

export async function load(url, context, next) {
  const filename = url.startsWith('file:') ? fileURLToPath(url) : '';
  if (!filename.endsWith('.ts')) return next(url, context);
  if (!sources.has(filename)) {
    sources.set(filename, await transform(await readFile(filename, 'utf8'), { ...swcOptions, filename }));
  }
  return { format: 'module', source: sources.get(filename).code, shortCircuit: true };
}
