// @nestjs/throttler is CommonJS and requires Nest, which is ESM: Node can do that, Jest only on Node 24.9 and later.
// So here its files are run as they are, and given Nest as Jest has loaded it.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as common from '@nestjs/common';
import * as core from '@nestjs/core';

const resolveFrom = (file) => createRequire(file).resolve;
const NEST = { '@nestjs/common': common, '@nestjs/core': core };
const loaded = new Map();

function load(file) {
  const module = loaded.get(file) ?? { exports: {} };
  if (loaded.has(file)) return module.exports;
  loaded.set(file, module);
  const need = (name) =>
    NEST[name] ?? (name.startsWith('.') ? load(resolveFrom(file)(name)) : createRequire(file)(name));
  new Function('require', 'exports', 'module', readFileSync(file, 'utf8'))(need, module.exports, module);
  return module.exports;
}

export const { SkipThrottle, Throttle, ThrottlerGuard, ThrottlerModule } = load(
  resolveFrom(import.meta.url)('@nestjs/throttler/dist/index.js'),
);
