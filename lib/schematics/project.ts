import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import packages from './packages.json' with { type: 'json' };

/** What the schematics use of the tree and the context that the Nest CLI gives them (@angular-devkit/schematics). */
export interface Tree {
  exists(path: string): boolean;
  readText(path: string): string;
  create(path: string, content: string): void;
  overwrite(path: string, content: string): void;
}

export interface Context {
  readonly logger: Record<'info' | 'warn', (message: string) => void>;
  addTask(task: { toConfiguration(): object }): unknown;
}

type Packages = Readonly<Record<string, string>>;

interface Manifest {
  readonly type?: string;
  readonly dependencies?: Packages;
  readonly devDependencies?: Packages;
  readonly pnpm?: { readonly onlyBuiltDependencies?: readonly string[] };
}

const LOCK_FILES = { pnpm: 'pnpm-lock.yaml', yarn: 'yarn.lock' } as const;
const isNode20 = Number.parseInt(process.versions.node, 10) < 22;

/** The project that a schematic adds to. What it has already stays as it is. */
export class NestProject {
  private readonly manifest: Manifest;
  readonly isEsm: boolean;

  constructor(
    private readonly tree: Tree,
    private readonly context: Context,
  ) {
    this.manifest = JSON.parse(this.read('package.json') || '{}') as Manifest;
    this.isEsm = this.manifest.type === 'module';
  }

  /** The text of a file; empty if there is none. */
  read(path: string): string {
    return this.tree.exists(path) ? this.tree.readText(path).replaceAll('\r\n', '\n') : '';
  }

  async create(path: string, source: string): Promise<void> {
    if (!this.tree.exists(path)) this.write(path, await formatted(path, '', source));
  }

  /** Edits a file, or prints what to add to it by hand. */
  async edit(path: string, change: (source: string) => string | null, byHand: readonly string[]): Promise<void> {
    const source = this.read(path);
    const edited = change(source);
    if (edited === null) {
      this.context.logger.warn([`${path} was left as it is. Please add to it:`, ...byHand].join('\n  '));
    } else if (edited !== source) {
      this.write(path, await formatted(path, source, edited));
    }
  }

  /** Adds lines to `.env` or `.gitignore`, except those that set what is set already. */
  addLines(path: string, lines: readonly string[]): void {
    const nameOf = (line: string): string => /^\s*(?:export\s+)?(\w+)\s*=/.exec(line)?.[1] ?? line.trim();
    const text = this.read(path);
    const names = text.split('\n').map(nameOf);
    const missing = lines.filter((line) => !names.includes(nameOf(line)));
    if (missing.length === 0) return;
    this.write(path, `${text.replace(/[^\n]$/, '$&\n')}${missing.join('\n')}\n`);
  }

  /** Adds packages to package.json, types for development, and has them installed once the files are written. */
  addPackages(names: readonly string[], skipInstall = false): void {
    const { dependencies = {}, devDependencies = {}, pnpm } = this.manifest;
    const missing = names.filter((name) => (dependencies[name] ?? devDependencies[name]) === undefined);
    if (missing.length === 0) return;
    const versions: Packages = {
      ...packages.versions,
      ...(isNode20 && packages.versionsForNode20),
      ...(/^\D*11\b/.test(dependencies['@nestjs/core'] ?? '') && packages.versionsForNestJS11),
    };
    const withMissing = (present: Packages, isOfTypes: boolean): Packages => {
      const added = missing.filter((name) => name.startsWith('@types/') === isOfTypes);
      const entries = added.map((name) => [name, versions[name] ?? '*'] as const);
      return Object.fromEntries([...Object.entries(present), ...entries].sort());
    };
    const packageManager = (['pnpm', 'yarn'] as const).find((name) => this.tree.exists(LOCK_FILES[name])) ?? 'npm';
    // Its release for Node 20 has an install script, which pnpm runs only if it is named.
    const isBuilt = packageManager === 'pnpm' && isNode20 && names.includes('better-sqlite3');
    const onlyBuiltDependencies = [...new Set(pnpm?.onlyBuiltDependencies).add('better-sqlite3')];
    const manifest: Manifest = {
      ...this.manifest,
      dependencies: withMissing(dependencies, false),
      devDependencies: withMissing(devDependencies, true),
      ...(isBuilt ? { pnpm: { ...pnpm, onlyBuiltDependencies } } : {}),
    };
    this.write('package.json', `${JSON.stringify(manifest, null, 2)}\n`);
    if (skipInstall) return;
    const options = { command: 'install', quiet: true, packageManager, allowScripts: true };
    this.context.addTask({ toConfiguration: () => ({ name: 'node-package', options }) });
  }

  private write(path: string, content: string): void {
    if (this.tree.exists(path)) this.tree.overwrite(path, content);
    else this.tree.create(path, content);
  }
}

/** Formats with the prettier of the project, if it has one, what replaces a source that was formatted. */
async function formatted(path: string, before: string, after: string): Promise<string> {
  try {
    const prettier = createRequire(resolve('package.json'))('prettier') as typeof import('prettier');
    const options = { ...(await prettier.resolveConfig(resolve(path), { editorconfig: true })), filepath: path };
    return (await prettier.check(before, options)) ? await prettier.format(after, options) : after;
  } catch {
    return after;
  }
}
