import { existsSync, readFileSync } from 'node:fs';

/** What processes appended to a file, a line of JSON for each. */
export function readJournal<Line>(file: string): Line[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Line);
}
