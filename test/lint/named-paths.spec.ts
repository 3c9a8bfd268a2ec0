import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { linksOf, type Page } from './translations.js';

/** The folders with code and prose of this repository. */
const FOLDERS = ['lib', 'test', 'docs', 'sample', 'bench', 'scripts', '.github', '.ci'];
/** What `npm run build`, `npm run docs`, the tests and the sample shop generate. */
const GENERATED = /^(?:sample\/)?(?:data|dist|site|reports|node_modules)(?:\/|$)/;
/** What a page tells its readers to write, `lib/store/sql/NAME.engine.ts`, or to delete from a new project. */
const FILES_OF_READERS = /\bNAME\b|^test\/(?:(?:app|checkout)\.e2e-spec|payment-settings)\.ts$/;
/** A history may name files that no longer exist. */
const HISTORY = ['CHANGELOG.md'];

const FILES = [...filesIn('.', false), ...FOLDERS.flatMap((folder) => filesIn(folder, true))];
const NAMES = new Set(FILES.map((file) => basename(file)));

const DELETED = 'lib/settlement/owed-outcomes.ts';

describe('a named path', () => {
  it.each(FILES.filter((file) => /\.(?:md|[mc]?[jt]s|ya?ml)$/.test(file) && !HISTORY.includes(file)))(
    'in %s exists',
    (file) => {
      const text = proseOf(file, readFileSync(file, 'utf8'));
      const paths = pathsIn(text).filter((path) => !pathExists(path, file));
      const names = namesIn(text).filter((name) => !NAMES.has(name));
      expect([...paths, ...names]).toEqual([]);
    },
  );

  it('is found in many files', () => {
    const named = FILES.filter((file) => /\.(?:md|ts)$/.test(file)).map((file) =>
      proseOf(file, readFileSync(file, 'utf8')),
    );
    expect(named.flatMap(pathsIn).length).toBeGreaterThan(100);
    expect(named.flatMap(namesIn).length).toBeGreaterThan(50);
  });

  it('is found in a page and in a comment', () => {
    const named = `As ${DELETED}, test/REAMDE.md and nowhere.ts.`;
    const prose = [proseOf('docs/page.md', named), proseOf('test/one.ts', `import '../lib/a.js';\n/** ${named} */`)];
    for (const text of prose) {
      expect(pathsIn(text)).toEqual([DELETED, 'test/REAMDE.md']);
      expect(namesIn(text).filter((name) => !NAMES.has(name))).toEqual(['nowhere.ts']);
    }
    expect(pathExists(DELETED, 'docs/page.md')).toBe(false);
  });
});

it.each(FILES.filter((file) => /^docs\/(?:internals\/)?(?!index)[\w-]+\.md$/.test(file)))(
  'a page at the root, test/README.md or the list of all pages in docs/index.md links to %s',
  (file) => {
    const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'test/README.md', 'docs/index.md'].map(
      (path): Page => ({ path, text: readFileSync(path, 'utf8') }),
    );
    const links = pages.flatMap(linksOf).map((link) => link.replace(/#.*/, ''));
    expect(links).toContain(file);
  },
);

function filesIn(folder: string, deep: boolean): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: deep })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !GENERATED.test(file) && !file.includes('node_modules'));
}

/** The prose of a file: a page without its code, or the comments; of a published file, the whole text. */
function proseOf(file: string, text: string): string {
  if (file.startsWith('lib/')) return text;
  if (file.endsWith('.md')) return text.replace(/^ *```(?:ts|prisma|json|html)\n[\s\S]*?^ *```$/gm, '');
  if (/ya?ml$/.test(file)) return [...text.matchAll(/(?:^|\s)#(.*)$/gm)].map(([, comment]) => comment).join('\n');
  return [...text.matchAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm)].map(([comment]) => comment).join('\n');
}

function pathsIn(text: string): string[] {
  const found = text.matchAll(/(?<![\w./@-])(?:lib|test|docs|sample|bench|\.github|\.ci)\/[\w.{}*,/-]*/g);
  return [...found].map(([path]) => path.replace(/[.,/]+$/, '')).filter((path) => !/[{}*]/.test(path));
}

/** File names without a folder, such as `writer.ts`. */
function namesIn(text: string): string[] {
  const found = text.matchAll(
    /(?<![\w./@*{}-])[a-z][\w-]*(?:\.[\w-]+)*\.(?:ts|mjs|cjs|js|md|sh|yml)\b(?![\w/(-]|\.\w)/g,
  );
  return [...found].map(([name]) => name);
}

/** test/README.md names suites relative to `test`, and a test run may name the beginning of a path. */
function pathExists(path: string, file: string): boolean {
  if (GENERATED.test(path) || FILES_OF_READERS.test(path) || existsSync(path)) return true;
  if (existsSync(join(dirname(file), path))) return true;
  const prefix = file === 'test/README.md' && !path.startsWith('test/') ? join('test', path) : path;
  return file.endsWith('.md') && FILES.some((each) => each.startsWith(prefix));
}
