// Builds dist/esm and dist/cjs, each marked with its module type. Types keep their files; the code goes into a few, since
// each file that is loaded costs every start of an application about half a millisecond.
//
// With `--without-types`, for the tests: only the code, compiled by swc, in a fifth of the time.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { transformFileSync } from '@swc/core';
import { rolldown } from 'rolldown';
import { SWC_OPTIONS } from '../bench/swc-options.mjs';

const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const { exports, bin, dependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
/** Where tsconfig.build.json has the code compiled to. */
const COMPILED = 'dist/compiled';

const packages = Object.keys({ ...dependencies, ...peerDependencies });
const entries = Object.values(exports).flatMap((entry) => entry.import?.default ?? []);

rmSync('dist', { recursive: true, force: true });
if (process.argv.includes('--without-types')) {
  compileBySwc();
} else {
  compile('tsconfig.build.json');
  compile('tsconfig.build.cjs.json');
}
await bundle('esm', [...entries, ...Object.values(bin)]);
await bundle('cjs', entries);
rmSync(COMPILED, { recursive: true });

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

/** All entries in one go: they share files, so that an application never holds two copies of a class. */
async function bundle(format, files) {
  const names = files.map((file) => /dist\/esm\/(.+)\.js$/.exec(file)[1]);
  const bundled = await rolldown({
    input: Object.fromEntries(names.map((name) => [name, `${COMPILED}/${name}.js`])),
    external: [/^node:/, ...packages.map((name) => new RegExp(`^${name}(/|$)`))],
    platform: 'node',
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
        // All that an application always loads is one file.
        { name: 'core', test: /compiled[\\/]index\.js$/ },
      ],
    },
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
