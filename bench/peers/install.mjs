/** Installs the clients that the bench compares this package with, unless they are there as the lock file says. */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const changedAt = (file) => statSync(`${folder}/${file}`, { throwIfNoEntry: false })?.mtimeMs ?? 0;

// npm writes the second file when it has installed what the first one lists.
if (changedAt('package-lock.json') > changedAt('node_modules/.package-lock.json')) {
  const args = ['ci', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund'];
  console.log(`> npm ${args.join(' ')}`);
  const { status } = spawnSync('npm', args, { stdio: 'inherit' });
  if (status !== 0) {
    console.error(`The bench's peers could not be installed: run "npm ci --prefix bench/peers".`);
    process.exitCode = 1;
  }
}
