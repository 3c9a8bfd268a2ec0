import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Written at the end of a build. */
const LAST_WRITTEN = 'dist/cjs/package.json';

/**
 * Throws where the package has not been built, or `lib` was changed since: a process that runs `dist` would show what
 * the code did before the change.
 *
 * @param path a file or folder in `dist`
 * @returns its path
 */
export function built(path = 'dist'): string {
  const builtAt = statSync(LAST_WRITTEN, { throwIfNoEntry: false })?.mtimeMs;
  if (builtAt === undefined) throw new Error('There is no build to run: npm run build');
  const newer = readdirSync('lib', { recursive: true, encoding: 'utf8' })
    .map((name) => join('lib', name))
    .filter((file) => /\.(ts|json)$/.test(file) && statSync(file).mtimeMs > builtAt);
  if (newer.length > 0) throw new Error(`The build is older than ${newer[0]}: npm run build`);
  return join(process.cwd(), path);
}
