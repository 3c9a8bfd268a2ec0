// Builds dist/esm and dist/cjs, each marked with its module type.
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { rmSync, writeFileSync } from 'node:fs';

const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');

rmSync('dist', { recursive: true, force: true });
for (const [project, folder, type] of [
  ['tsconfig.build.json', 'dist/esm', 'module'],
  ['tsconfig.build.cjs.json', 'dist/cjs', 'commonjs'],
]) {
  execFileSync(process.execPath, [tsc, '-p', project], { stdio: 'inherit' });
  writeFileSync(`${folder}/package.json`, `${JSON.stringify({ type })}\n`);
}
