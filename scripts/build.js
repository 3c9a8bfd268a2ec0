// Builds dist/esm and dist/cjs, each marked with its module type. The code goes into a few files, since each one that is
// loaded costs every start of an application about half a millisecond; so do the types, without what no entry leads to.
//
// With `--without-types`, for the tests: only the code, compiled by swc, in a fifth of the time.
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { transformFileSync } from '@swc/core';
import { rolldown } from 'rolldown';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import { SWC_OPTIONS } from '../bench/swc-options.mjs';

const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const { exports, bin, schematics, dependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
/** Where tsconfig.build.json has the code compiled to. */
const COMPILED = 'dist/compiled';

const DECORATORS = resolve('scripts/decorators.js');

const packages = Object.keys({ ...dependencies, ...peerDependencies });
/** What is not bundled. */
const external = [/^node:/, ...packages.map((name) => new RegExp(`^${name}(/|$)`))];
const entries = Object.values(exports).flatMap((entry) => entry.import?.default ?? []);

rmSync('dist', { recursive: true, force: true });
const isWithTypes = !process.argv.includes('--without-types');
if (isWithTypes) compile();
else compileBySwc();
await bundle('esm', [...entries, ...Object.values(bin)]);
// The Nest CLI requires the schematics.
await bundle('cjs', [...entries, 'dist/esm/schematics/index.js']);
if (isWithTypes) await bundleTypes();
rmSync(COMPILED, { recursive: true });
copySchematicFiles(dirname(schematics));

function compile() {
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
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

/** The descriptions of the schematics, and the files that they generate: those of the starter. */
function copySchematicFiles(folder) {
  for (const name of readdirSync('lib/schematics').filter((file) => file.endsWith('.json'))) {
    cpSync(`lib/schematics/${name}`, `${folder}/${name}`);
  }
  for (const path of ['src/checkout', 'test']) {
    cpSync(`sample/starter/${path}`, `${folder}/files/${path}`, { recursive: true });
  }
}

/** The types are the same in both formats. */
async function bundleTypes() {
  const bundled = await rollup({
    input: Object.fromEntries(entries.map((entry) => [nameOf(entry), `${COMPILED}/${nameOf(entry)}.d.ts`])),
    external,
    plugins: [dts()],
    onLog(level, { code, plugin, message }) {
      // That `swagger` exports nothing, and that entries share types that none of them exports, is so on purpose.
      if (level === 'warn' && code !== 'EMPTY_BUNDLE' && plugin !== 'dts') throw new Error(message);
    },
  });
  for (const dir of ['dist/esm', 'dist/cjs']) {
    await bundled.write({
      dir,
      entryFileNames: '[name].d.ts',
      chunkFileNames: 'chunks/[name].ts',
      minifyInternalExports: false,
    });
  }
  await bundled.close();
}

/** The name of an entry, which is its path without `dist/esm` and the ending. */
function nameOf(file) {
  return /dist\/esm\/(.+)\.js$/.exec(file)[1];
}

/** All entries in one go: they share files, so that an application never holds two copies of a class. */
async function bundle(format, files) {
  const names = files.map(nameOf);
  const bundled = await rolldown({
    input: Object.fromEntries(names.map((name) => [name, `${COMPILED}/${name}.js`])),
    external,
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
