import { accessSync, constants, readdirSync, statSync } from 'node:fs';
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
  const path = findExecutable(...names);
  if (path === null) {
    throw new Error(`${names[0]} is not installed: run "node test/services/install.mjs"`);
  }
  return path;
}

export const CHROMIUM_NAMES = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'Chromium',
  'Google Chrome',
];
