import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The parent of both `src` and `dist`. */
const SAMPLE = fileURLToPath(new URL('..', import.meta.url));

export const PUBLIC_DIRECTORY = join(SAMPLE, 'public');

/** The path of a file in the shop's data directory: `sample/data`, or `SHOP_DATA`. */
export function dataFile(name: string): string {
  const directory = resolve(process.env.SHOP_DATA ?? join(SAMPLE, 'data'));
  mkdirSync(directory, { recursive: true });
  return join(directory, name);
}
