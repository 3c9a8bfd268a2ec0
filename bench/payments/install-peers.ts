import { spawnSync } from 'node:child_process';

/** Installs the clients that this package is compared with, if they are missing. */
export function installPeers(): void {
  const { status } = spawnSync(process.execPath, ['bench/peers/install.mjs'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('the peers of the bench could not be installed');
}
