import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../command.js';

export type Adapter = 'express' | 'fastify';
export type PackageManager = 'npm' | 'pnpm' | 'yarn';

/** What is seen of the Nest application in a folder. */
export interface NestProject {
  readonly folder: string;
  readonly nest: 11 | 12;
  readonly modules: 'ESM' | 'CommonJS';
  readonly adapter: Adapter;
  /** Why `adapter` may be another one than the merchant means; null if it is plain. */
  readonly doubt: string | null;
  readonly packageManager: PackageManager;
  /** The names of the packages that run with the application. */
  readonly dependencies: readonly string[];
  readonly devDependencies: readonly string[];
  readonly scripts: readonly string[];
  /** Whether `import Database from 'better-sqlite3'` works when it is compiled. */
  readonly hasDefaultImports: boolean;
}

interface Manifest {
  readonly type?: unknown;
  readonly packageManager?: unknown;
  readonly dependencies?: unknown;
  readonly devDependencies?: unknown;
  readonly scripts?: unknown;
}

const GUIDE = 'https://github.com/nestjs-card-payment/nestjs-card-payment/blob/main/docs/getting-started.md';
const BY_HAND = `Follow the guide by hand: ${GUIDE}`;
const LOCK_FILES: readonly (readonly [file: string, manager: PackageManager])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['package-lock.json', 'npm'],
];

/**
 * Looks at the Nest application in a folder.
 *
 * @param adapter the one that the merchant named
 * @throws UsageError if it is not one that the tutorial's files fit
 */
export function nestProjectIn(folder: string, adapter?: Adapter): NestProject {
  const manifest = jsonIn(folder, 'package.json') as Manifest | null;
  if (manifest === null) {
    throw new UsageError(
      'There is no package.json here. Run this in the folder of a Nest application (nest new shop).',
    );
  }
  const dependencies = namesIn(manifest.dependencies);
  if (!dependencies.includes('@nestjs/core')) {
    throw new UsageError('This is no Nest application: @nestjs/core is not in the dependencies of package.json.');
  }
  refuseOtherLayouts(folder);
  return {
    folder,
    nest: nestVersionOf(folder, manifest),
    modules: manifest.type === 'module' ? 'ESM' : 'CommonJS',
    ...adapterOf(folder, dependencies, adapter),
    packageManager: packageManagerOf(folder, manifest),
    dependencies,
    devDependencies: namesIn(manifest.devDependencies),
    scripts: namesIn(manifest.scripts),
    hasDefaultImports: hasDefaultImports(folder),
  };
}

function refuseOtherLayouts(folder: string): void {
  const cli = (jsonIn(folder, 'nest-cli.json') ?? {}) as {
    readonly monorepo?: unknown;
    readonly sourceRoot?: unknown;
  };
  if (cli.monorepo === true) throw new UsageError(`This is a monorepo of several Nest applications. ${BY_HAND}`);
  if (typeof cli.sourceRoot === 'string' && !/^(?:\.\/)?src\/?$/.test(cli.sourceRoot)) {
    throw new UsageError(`The sources are in ${cli.sourceRoot} (nest-cli.json), not in src. ${BY_HAND}`);
  }
  if (textIn(folder, 'tsconfig.json') === null) {
    throw new UsageError(`There is no tsconfig.json: the tutorial is written in TypeScript. ${BY_HAND}`);
  }
}

function nestVersionOf(folder: string, { dependencies }: Manifest): 11 | 12 {
  const installed = jsonIn(folder, 'node_modules/@nestjs/core/package.json') as { readonly version?: unknown } | null;
  const range = (dependencies as Readonly<Record<string, unknown>>)['@nestjs/core'];
  const version = String(installed?.version ?? range);
  const major = Number(/^\D{0,2}(\d{1,4})(?:\.|$)/.exec(version)?.[1]);
  if (major === 11 || major === 12) return major;
  if (Number.isNaN(major)) {
    throw new UsageError('package.json does not tell the version of @nestjs/core. Install the packages first.');
  }
  throw new UsageError(`This is NestJS ${major}; nestjs-card-payment needs NestJS 11 or 12.`);
}

function adapterOf(
  folder: string,
  dependencies: readonly string[],
  named: Adapter | undefined,
): Pick<NestProject, 'adapter' | 'doubt'> {
  if (named !== undefined) return { adapter: named, doubt: null };
  if (/platform-fastify/.test(textIn(folder, 'src/main.ts') ?? '')) return { adapter: 'fastify', doubt: null };
  const hasExpress = dependencies.includes('@nestjs/platform-express');
  const hasFastify = dependencies.includes('@nestjs/platform-fastify');
  if (hasExpress && hasFastify) {
    const doubt = 'Express and Fastify are both installed, and src/main.ts starts Express';
    return { adapter: 'express', doubt };
  }
  if (!hasExpress && !hasFastify) {
    return { adapter: 'express', doubt: 'Neither Express nor Fastify is installed' };
  }
  return { adapter: hasFastify ? 'fastify' : 'express', doubt: null };
}

function packageManagerOf(folder: string, { packageManager }: Manifest): PackageManager {
  const locked = LOCK_FILES.find(([file]) => textIn(folder, file) !== null);
  if (locked) return locked[1];
  const named = /^(npm|pnpm|yarn)@/.exec(String(packageManager))?.[1];
  return (named as PackageManager | undefined) ?? 'npm';
}

/** The compiler's own default depends on the module format; a base file (`extends`) is trusted to set it. */
function hasDefaultImports(folder: string): boolean {
  const lines = (textIn(folder, 'tsconfig.json') ?? '').split('\n');
  const text = lines.filter((line) => !line.trimStart().startsWith('//')).join('\n');
  const isCommonJs = /"module"\s*:\s*"commonjs"/i.test(text);
  return !isCommonJs || /"esModuleInterop"\s*:\s*true|"extends"/.test(text);
}

function namesIn(members: unknown): string[] {
  return typeof members === 'object' && members !== null ? Object.keys(members) : [];
}

/** @returns null if there is no such file */
function jsonIn(folder: string, path: string): unknown {
  const text = textIn(folder, path);
  if (text === null) return null;
  try {
    const value = JSON.parse(text.replace(/^\uFEFF/, '')) as unknown;
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // The error of JSON.parse shows a part of the file.
  }
  throw new UsageError(`${path} is not valid JSON.`);
}

function textIn(folder: string, path: string): string | null {
  try {
    return readFileSync(join(folder, path), 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new UsageError(`${path} cannot be read (${code}).`);
  }
}
