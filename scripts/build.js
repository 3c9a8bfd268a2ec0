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
 * Removes the declarations that those of no entry lead to, and the comments of those that no entry exports: nobody
 * reads them there.
 */
function removeOtherTypes(folder) {
  const needed = new Set();
  const need = (file) => {
    if (needed.has(file)) return;
    needed.add(file);
    importsOf(file).forEach(need);
  };
  const types = entries.map((entry) => join(folder, entry.replace('./dist/esm/', '').replace(/\.js$/, '.d.ts')));
  const exported = new Set(types.flatMap((file) => [file, ...importsOf(file)]));
  types.forEach(need);
  for (const name of readdirSync(folder, { recursive: true })) {
    const file = join(folder, name);
    if (!file.endsWith('.d.ts')) continue;
    if (!needed.has(file)) rmSync(file);
    else if (!exported.has(file))
      writeFileSync(file, readFileSync(file, 'utf8').replace(/^\s*\/\*\*[\s\S]*?\*\/\n/gm, ''));
  }
}

function importsOf(file) {
  const imports = readFileSync(file, 'utf8').matchAll(/\b(?:from|import)\b\s*\(?\s*['"](\.[^'"]+)\.js['"]/g);
  return [...imports].map(([, path]) => join(dirname(file), `${path}.d.ts`));
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
