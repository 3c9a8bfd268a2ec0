import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { WHOLE } from './extent.js';

/**
 * Loads all suites of a folder as one Jest suite: Jest loads Nest and lib anew for each suite, which took most of the
 * time of fast ones. Folders with a room of their own are left out, and `*.whole.spec.ts` unless the whole tests run.
 */
export async function loadRoom(room: string): Promise<void> {
  for (const file of suitesIn(fileURLToPath(new URL('.', room)))) await import(pathToFileURL(file).href);
}

function suitesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return existsSync(join(path, 'room.ts')) ? [] : suitesIn(path);
      return entry.name.endsWith('.spec.ts') && (WHOLE || !entry.name.endsWith('.whole.spec.ts')) ? [path] : [];
    });
}
