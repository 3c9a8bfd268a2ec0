import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { WHOLE } from './extent.js';

function suitesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return existsSync(join(path, 'room.ts')) ? [] : suitesIn(path);
      return entry.name.endsWith('.spec.ts') && (WHOLE || !entry.name.endsWith('.whole.spec.ts')) ? [path] : [];
    });
}

/**
 * For a `room.ts`: loads all suites of its folder as one Jest suite. Jest loads Nest and lib anew for each suite, which
 * took most of the time of fast ones. Folders with a room of their own are left out, and `*.whole.spec.ts` unless the
 * whole tests run.
 */
for (const file of suitesIn(dirname(expect.getState().testPath!))) await import(pathToFileURL(file).href);
