import { readdirSync, readFileSync, statSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import { TEST_CARDS } from 'nestjs-card-payment/simulator';
import { passesLuhn } from '../../lib/dto/rules.js';
import { makeScratchFolder } from '../rigs/scratch-folder.js';
import { packTarball, run } from './tarball.js';

interface Manifest {
  readonly exports: Readonly<Record<string, string | object>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
}

const OPTIONAL = [
  '@nestjs/event-emitter',
  '@nestjs/swagger',
  '@nestjs/terminus',
  '@opentelemetry/api',
  'better-sqlite3',
  'kysely',
  'mysql2',
  'pg',
];

/** That its files exist, for every way of resolving them, and that its command runs is shown by `check:package`. */
describe('the packed package', () => {
  const { path: scratch, remove } = makeScratchFolder('tarball');
  let root: string;
  let files: string[];
  let manifest: Manifest;
  const read = (file: string) => readFileSync(join(root, file), 'utf8');

  beforeAll(async () => {
    const tarball = await packTarball(scratch);
    await run('tar', ['-xzf', tarball], { cwd: scratch });
    root = join(scratch, 'package');
    const entries = readdirSync(root, { recursive: true, withFileTypes: true });
    files = entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) =>
        join(parentPath, name)
          .slice(root.length + 1)
          .replaceAll('\\', '/'),
      );
    manifest = JSON.parse(read('package.json')) as Manifest;
  });
  afterAll(remove);

  it('contains the two builds, the changelog, the license, the README and the manifest', () => {
    expect(files.filter((file) => !file.startsWith('dist/')).sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'package.json',
    ]);
    const built = files.filter((file) => /^dist\/(?!cjs\/schematics\/)/.test(file));
    expect(built.filter((file) => !/^dist\/(esm|cjs)\/(package\.json|[\w./-]+\.(js|d\.ts))$/.test(file))).toEqual([]);
    expect(JSON.parse(read('dist/esm/package.json'))).toEqual({ type: 'module' });
    expect(JSON.parse(read('dist/cjs/package.json'))).toEqual({ type: 'commonjs' });
  });

  it('unpacks to at most 2 MB', () => {
    const sizes = files.map((file) => statSync(join(root, file)).size);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(2_000_000);
  });

  it('exports ES modules first, so that an application never holds two copies', () => {
    const { './package.json': _itself, ...entries } = manifest.exports;
    for (const [entry, conditions] of Object.entries(entries)) {
      expect([entry, ...Object.keys(conditions)]).toEqual([entry, 'module-sync', 'import', 'require']);
    }
  });

  it('depends only on the packages that it imports', () => {
    // What a schematic writes is the application's.
    const code = files.filter((file) => /^dist\/(?!cjs\/schematics\/).*\.(js|d\.ts)$/.test(file));
    const imported = new Set(code.flatMap((file) => packagesOf(read(file))));
    // The host's own EventEmitter2 is found among its providers.
    imported.add('@nestjs/event-emitter');
    const named = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies)];
    expect([...imported].sort()).toEqual(named.sort());
    expect(Object.keys(manifest.peerDependenciesMeta).sort()).toEqual(OPTIONAL);
  });

  it.each(['index', 'simulator/index', 'testing/index'])('needs no optional peer for the types of %s', (entry) => {
    for (const build of ['esm', 'cjs']) {
      const reached = declarationsFrom(`dist/${build}/${entry}.d.ts`);
      const needed = new Set([...reached].flatMap((file) => packagesOf(read(file))));
      expect(OPTIONAL.filter((name) => needed.has(name))).toEqual([]);
    }
  });

  it('contains only published test cards, and no path of the machine that built it', () => {
    const published = TEST_CARDS.map(({ cardNo }) => cardNo);
    for (const file of files) {
      const text = read(file);
      const cards = (text.match(/(?<!\d)[1-9]\d{12,18}(?!\d)/g) ?? []).filter((digits) => passesLuhn(digits));
      expect({ file, cards: cards.filter((card) => !published.includes(card)) }).toEqual({ file, cards: [] });
      expect({ file, isTraced: text.includes(process.cwd()) || /sourceMappingURL/.test(text) }).toEqual({
        file,
        isTraced: false,
      });
    }
  });

  function declarationsFrom(file: string, reached = new Set<string>()): Set<string> {
    if (!reached.has(file)) {
      reached.add(file);
      for (const specifier of specifiersOf(read(file)).filter((name) => name.startsWith('.'))) {
        declarationsFrom(join(dirname(file), specifier.replace(/\.js$/, '.d.ts')), reached);
      }
    }
    return reached;
  }
});

function specifiersOf(code: string): string[] {
  const withoutComments = code.replace(/\/\*[\s\S]*?\*\//g, '');
  const matches = withoutComments.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\(\s*)(['"])([\w@./:-]+)\1/g);
  return [...matches].map(([, , specifier = '']) => specifier);
}

/** The packages that a file imports, without the modules of Node. */
function packagesOf(code: string): string[] {
  return specifiersOf(code)
    .filter((specifier) => !/^(\.|node:)/.test(specifier) && !builtinModules.includes(specifier))
    .map((specifier) => /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier);
}
