import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Folders outside PATH where packages put these programs; the newest PostgreSQL first. */
function wellKnownFolders() {
  const versions = ['/usr/lib/postgresql', '/usr/pgsql'].flatMap((base) => {
    try {
      return readdirSync(base)
        .sort((a, b) => Number(b) - Number(a))
        .map((version) => join(base, version, 'bin'));
    } catch {
      return [];
    }
  });
  return [
    ...versions,
    '/usr/local/bin',
    '/usr/bin',
    '/usr/sbin',
    '/snap/bin',
    '/opt/homebrew/bin',
    '/opt/homebrew/opt/postgresql@17/bin',
    '/usr/local/opt/postgresql@17/bin',
    '/Applications/Chromium.app/Contents/MacOS',
    '/Applications/Google Chrome.app/Contents/MacOS',
  ];
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The path of the first of these programs that is installed, or null. */
export function findExecutable(...names) {
  const inPath = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const folders = [...inPath, ...wellKnownFolders()];
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.find(isExecutable) ?? null;
}

/** Like {@link findExecutable}, but throws an Error that says how to install a missing program. */
export function requireExecutable(...names) {
  return requireFound(names[0], findExecutable(...names));
}

/** Chromium without its windows, which opens a page in a third of the time. Debian has it, Ubuntu does not. */
export const HEADLESS_SHELL = 'chromium-headless-shell';

/** The first that is there is used. */
export const CHROMIUM_NAMES = [
  HEADLESS_SHELL,
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'Chromium',
  'Google Chrome',
];

/** The path of Galera's library, or null where it or what copies data between nodes is not installed. */
export function findGalera() {
  const folders = ['/usr/lib/galera', '/usr/lib/galera-4', '/usr/lib64/galera-4'];
  const path = folders.map((folder) => join(folder, 'libgalera_smm.so')).find((file) => existsSync(file));
  const copiers = ['wsrep_sst_rsync', 'rsync'].map((name) => findExecutable(name));
  return path === undefined || copiers.includes(null) ? null : path;
}

/** What one of these functions found; throws an Error that says how to install it if it is null. */
export function requireFound(what, path) {
  if (path === null) {
    throw new Error(`${what} is not installed: run "node test/services/install.mjs"`);
  }
  return path;
}
