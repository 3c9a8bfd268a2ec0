import { spawnSync } from 'node:child_process';
import { lstatSync, statSync } from 'node:fs';

const changedAt = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Installs what the lock file of a folder lists, unless it is there. Returns whether it is there then. */
export function installNpmFolder(folder) {
  // A link leads to another checkout's packages, which npm would remove.
  if (lstatSync(`${folder}/node_modules`, { throwIfNoEntry: false })?.isSymbolicLink()) {
    return true;
  }
  // npm writes the second file when it has installed what the first one lists.
  if (changedAt(`${folder}/package-lock.json`) <= changedAt(`${folder}/node_modules/.package-lock.json`)) {
    return true;
  }
  const args = ['ci', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund'];
  console.log(`> npm ${args.join(' ')}`);
  return spawnSync('npm', args, { stdio: 'inherit' }).status === 0;
}
