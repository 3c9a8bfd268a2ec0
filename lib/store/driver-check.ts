import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** The path of this file, set by the build: drivers are looked for from there, as `import()` does. */
declare const OWN_FILE: string | undefined;

/** An older release of each driver, for a Node.js that the newest release does not support. */
const OLDER_RELEASES: Readonly<Record<string, string>> = {
  'better-sqlite3': '12',
  kysely: '0.28',
  pg: '8',
};

const byVersion = new Intl.Collator('en', { numeric: true }).compare;

/** What a driver's package.json says. */
interface DriverPackage {
  readonly version: string;
  readonly engines?: { readonly node?: unknown };
}

/** Why this Node.js is too old for an installed driver, and what to install; null if it is not, or that is unknown. */
export function driverProblem(name: string, node = process.versions.node, from = startingPoints()): string | null {
  const driver = packageOf(name, from);
  const needed = driver && lowestOf(driver.engines?.node);
  if (!driver || !needed || byVersion(node, needed) >= 0) return null;
  const older = OLDER_RELEASES[name];
  const remedy = older === undefined ? 'install an older release of it' : `npm install ${name}@${older}`;
  return `${name} ${driver.version} needs Node.js ${needed} or newer, and this is ${node}: ${remedy}`;
}

/** Below this, the newest releases of some drivers do not run. */
const NEWEST_NEED = '22';

/** What to install of these packages, for `npm install`: those that are missing, in a release that fits this Node.js. */
export function missingPackages(
  names: readonly string[],
  node = process.versions.node,
  from = startingPoints(),
): string {
  const missing = names.filter((name) => packageOf(name, from) === null);
  const isOld = byVersion(node, NEWEST_NEED) < 0;
  // Where all of them are found, one of them is broken.
  return (missing.length > 0 ? missing : names)
    .map((name) => (isOld && OLDER_RELEASES[name] !== undefined ? `${name}@${OLDER_RELEASES[name]}` : name))
    .join(' ');
}

function startingPoints(): string[] {
  const own = typeof OWN_FILE === 'undefined' ? join(process.cwd(), 'application') : OWN_FILE;
  return [own, ...(process.argv[1] === undefined ? [] : [process.argv[1]])];
}

/** Reads the file, because a package may forbid to require its package.json, and must not be run yet. */
function packageOf(name: string, from: readonly string[]): DriverPackage | null {
  const folders = from.flatMap((file) => {
    try {
      return createRequire(file).resolve.paths(name) ?? [];
    } catch {
      // A bundler gave the file a name that is not a path.
      return [];
    }
  });
  for (const folder of folders) {
    try {
      const read: unknown = JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8'));
      if (isPackage(read)) return read;
    } catch {
      // It is not in this folder.
    }
  }
  return null;
}

function isPackage(read: unknown): read is DriverPackage {
  const { version } = Object(read) as { readonly version?: unknown };
  return typeof version === 'string' && /^[\w.+-]{1,60}$/.test(version);
}

/**
 * The lowest release in a range such as `>=22` or `20.x || 22.x`. Higher ones are not checked, because a release of
 * Node.js may be newer than the driver's range.
 */
function lowestOf(range: unknown): string | null {
  if (typeof range !== 'string' || range.length > 200) return null;
  const lowest = range
    .split('||')
    .map((part) => /^(?:>=|[=^~])?v?(\d{1,4}(?:\.\d{1,4}){0,2})/.exec(part.replaceAll(' ', ''))?.[1] ?? '');
  // A part without a lower bound (`<25`, `*`) allows any.
  return lowest.includes('') ? null : lowest.sort(byVersion)[0]!;
}
