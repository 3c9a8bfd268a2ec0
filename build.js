// Builds dist/esm and dist/cjs, each marked with its module type.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { rmSync, writeFileSync } from 'node:fs';

const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');

rmSync('dist', { recursive: true, force: true });
for (const [project, folder, type] of [
  ['tsconfig.build.json', 'dist/esm', 'module'],
  ['tsconfig.build.cjs.json', 'dist/cjs', 'commonjs'],
]) {
  const { status } = spawnSync(process.execPath, [tsc, '-p', project], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
  writeFileSync(`${folder}/package.json`, `${JSON.stringify({ type })}\n`);
}
