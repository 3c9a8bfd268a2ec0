/** Installs the clients that the bench compares this package with, unless they are there as the lock file says. */
import { fileURLToPath } from 'node:url';
import { installNpmFolder } from '../../test/services/npm-folder.mjs';

if (!installNpmFolder(fileURLToPath(new URL('.', import.meta.url)))) {
  console.error(`The bench's peers could not be installed: run "npm ci --prefix bench/peers".`);
  process.exitCode = 1;
}
