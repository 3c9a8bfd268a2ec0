import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Beside `src` and `dist` alike. */
const SAMPLE = fileURLToPath(new URL('..', import.meta.url));

export const PUBLIC_DIRECTORY = join(SAMPLE, 'public');

/** A file of the shop's data directory: `sample/data`, or where `SHOP_DATA` says. */
export function dataFile(name: string): string {
  const directory = resolve(process.env.SHOP_DATA ?? join(SAMPLE, 'data'));
  mkdirSync(directory, { recursive: true });
  return join(directory, name);
}
