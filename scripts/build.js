// Builds dist/esm and dist/cjs, each marked with its module type. Types keep their files; the code goes into a few, since
// each file that is loaded costs every start of an application about half a millisecond.
//
// With `--without-types`, for the tests: only the code, compiled by swc, in a fifth of the time.
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { transformFileSync } from '@swc/core';
import { rolldown } from 'rolldown';
import { SWC_OPTIONS } from '../bench/swc-options.mjs';

const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const { exports, bin, schematics, dependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
/** Where tsconfig.build.json has the code compiled to. */
const COMPILED = 'dist/compiled';

const DECORATORS = resolve('scripts/decorators.js');

const COMMENT = /^[ \t]*\/\*\*[\s\S]*?\*\/\n/gm;
/** Where a statement begins, or the comment before it. */
const STATEMENT =
  /^(?=\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n(?:export|declare|interface|type|import) )|(?<!\*\/\n)^(?=(?:export|declare|interface|type|import) )/m;
const PRIVATE_COMMENT = /^[ \t]*\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n(?=[ \t]*private )/gm;

const packages = Object.keys({ ...dependencies, ...peerDependencies });
const entries = Object.values(exports).flatMap((entry) => entry.import?.default ?? []);

rmSync('dist', { recursive: true, force: true });
const isWithTypes = !process.argv.includes('--without-types');
if (!isWithTypes) {
  compileBySwc();
} else {
  compile('tsconfig.build.json');
  compile('tsconfig.build.cjs.json');
}
await bundle('esm', [...entries, ...Object.values(bin)]);
// The Nest CLI requires the schematics.
await bundle('cjs', [...entries, 'dist/esm/schematics/index.js']);
rmSync(COMPILED, { recursive: true });
copySchematicFiles(dirname(schematics));
if (isWithTypes) for (const folder of ['dist/esm', 'dist/cjs']) removeOtherTypes(folder);

function compile(project) {
  const { status } = spawnSync(process.execPath, [tsc, '-p', project], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}

function compileBySwc() {
  for (const entry of readdirSync('lib', { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const compiled = join(COMPILED, relative('lib', file).replace(/\.ts$/, '.js'));
    mkdirSync(dirname(compiled), { recursive: true });
    if (compiled.endsWith('.js')) writeFileSync(compiled, transformFileSync(file, SWC_OPTIONS).code);
    else copyFileSync(file, compiled);
  }
}

function withDecorators(code, file) {
  if (file === DECORATORS) return null;
  const used = ['__decorate', '__metadata', '__param'].filter((name) => code.includes(`${name}(`));
  return used.length > 0 ? `import { ${used.join(', ')} } from ${JSON.stringify(DECORATORS)};\n${code}` : null;
}

/**
 * Leaves in the declarations what an entry exports, and what that leads to. Comments are only where somebody reads them:
 * on what an entry exports, and on what that inherits, but on no private member.
 */
function removeOtherTypes(folder) {
  const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.d.ts'));
  const all = new Map(files.map((name) => [join(folder, name), statementsIn(join(folder, name))]));
  const types = entries.map((entry) => join(folder, relative('dist/esm', entry).replace(/\.js$/, '.d.ts')));
  const exported = types.flatMap((file) => exportedBy(file, all));
  const statements = [...all.values()].flat();
  const needed = reachable(exported, statements, ({ code }) => code);
  const read = reachable(exported, statements, inheritedIn);
  for (const [file, own] of all) {
    const kept = own.filter(({ name }) => name === undefined || needed.has(name));
    const used = new Set(kept.flatMap(({ name, code }) => (name === undefined ? [] : wordsIn(code))));
    const texts = kept.map(({ name, text, code }) => {
      if (name !== undefined) return read.has(name) ? text.replace(PRIVATE_COMMENT, '') : code;
      return types.includes(file) ? text : withNames(code, (word) => used.has(word) || exported.includes(word));
    });
    all.set(file, texts.join(''));
  }
  const reached = new Set();
  const reach = (file) => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const [, path] of all.get(file).matchAll(/\b(?:from|import)\b\s*\(?\s*['"](\.[^'"]+)\.js['"]/g)) {
      reach(join(dirname(file), `${path}.d.ts`));
    }
  };
  types.forEach(reach);
  for (const [file, text] of all) {
    if (reached.has(file)) writeFileSync(file, text);
    else rmSync(file);
  }
}

/** The statements of a file, with and without their comments. Imports and lists of exports have no name. */
function statementsIn(file) {
  return readFileSync(file, 'utf8')
    .split(STATEMENT)
    .map((text) => {
      const code = text.replace(COMMENT, '');
      const declared = /^(?:export )?(?:declare )?(?:abstract )?(?:class|interface|type|const|function) (\w+)/.exec(
        code,
      );
      return { text, code, name: declared?.[1] };
    });
}

function wordsIn(code) {
  return code.match(/\w+/g) ?? [];
}

/** An import or a list of exports with those names alone. */
function withNames(code, isKept) {
  return code.replace(/^(?:import|export) .*\{(.*)\} from .*\n/gm, (statement, list) => {
    const names = list.split(',').filter((item) => isKept(wordsIn(item).at(-1)));
    return names.length === 0 ? '' : statement.replace(list, ` ${names.join(',').trim()} `);
  });
}

/** The names that a file exports, be they of its own or of others. */
function exportedBy(file, all) {
  return all.get(file).flatMap(({ code, name }) => {
    if (name !== undefined) return /^export /.test(code) ? [name] : [];
    const [, path] = /^export \* from '(.+)\.js'/.exec(code) ?? [];
    if (path !== undefined) return exportedBy(join(dirname(file), `${path}.d.ts`), all);
    return (
      /^export (?:type )?\{(.*)\}/
        .exec(code)?.[1]
        .split(',')
        .map((item) => wordsIn(item).at(-1)) ?? []
    );
  });
}

/** The names of the statements that those lead to, by the words in a part of each. */
function reachable(names, statements, partOf) {
  const found = new Set(names);
  for (const name of found) {
    for (const one of statements.filter((each) => each.name === name)) {
      for (const word of wordsIn(partOf(one))) found.add(word);
    }
  }
  return found;
}

/** From what a declaration has its members. */
function inheritedIn({ code, name }) {
  const alias = code.startsWith(`export type ${name}`) || code.startsWith(`type ${name}`);
  return alias ? code : (/\bextends ((?:(?!implements)[^{])*)/.exec(code)?.[1] ?? '');
}

/** The descriptions of the schematics, and the files that they generate: those of the starter. */
function copySchematicFiles(folder) {
  for (const name of readdirSync('lib/schematics').filter((file) => file.endsWith('.json'))) {
    cpSync(`lib/schematics/${name}`, `${folder}/${name}`);
  }
  for (const path of ['src/checkout', 'test']) {
    cpSync(`sample/starter/${path}`, `${folder}/files/${path}`, { recursive: true });
  }
}

/** All entries in one go: they share files, so that an application never holds two copies of a class. */
async function bundle(format, files) {
  const names = files.map((file) => /dist\/esm\/(.+)\.js$/.exec(file)[1]);
  const bundled = await rolldown({
    input: Object.fromEntries(names.map((name) => [name, `${COMPILED}/${name}.js`])),
    external: [/^node:/, ...packages.map((name) => new RegExp(`^${name}(/|$)`))],
    platform: 'node',
    plugins: [{ name: 'decorators', transform: withDecorators }],
    // What was written is what runs: decorators and the metadata of classes are side effects.
    treeshake: false,
    // From where drivers are looked for, in the words of each format.
    transform: { define: { OWN_FILE: format === 'esm' ? 'import.meta.url' : '__filename' } },
    onLog(level, { message }) {
      if (level === 'warn') throw new Error(message);
    },
  });
  await bundled.write({
    dir: `dist/${format}`,
    format,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    codeSplitting: {
      groups: [
        { name: 'node-version', test: /node-version\.js$/, priority: 1 },
        // All that an application always loads is one file.
        { name: 'core', test: /compiled[\\/]index\.js$/ },
      ],
    },
    // They are in the declarations.
    comments: false,
    minifyInternalExports: false,
    // Of a driver that is used by `import()`: Jest has that in CommonJS only with a flag.
    dynamicImportInCjs: false,
    // Where two files have a class or function of the same name.
    keepNames: true,
  });
  await bundled.close();
  writeFileSync(
    `dist/${format}/package.json`,
    `${JSON.stringify({ type: format === 'esm' ? 'module' : 'commonjs' })}\n`,
  );
}
