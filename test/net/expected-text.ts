import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const FOLDER = join(import.meta.dirname, 'expected');
/** A section begins with a line that is not indented. */
const SECTION = /\n+(?=\S)/;

/**
 * Compares a text with the file of this name in `expected/`, section by section. With UPDATE_NET=1 it writes the file.
 */
export function expectText(name: string, actual: string): void {
  const file = join(FOLDER, name);
  if (process.env.UPDATE_NET === '1') {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, actual);
    return;
  }
  const [expected, found] = [readFileSync(file, 'utf8').split(SECTION), actual.split(SECTION)];
  try {
    // Only what differs, so that each difference is shown with the title of its section.
    expect(without(found, expected)).toBe(without(expected, found));
    expect(actual).toBe(expected.join('\n\n'));
  } catch (error) {
    if (error instanceof Error) {
      error.message += `\n\nIf test/net/expected/${name} is to change: UPDATE_NET=1 npm run jest -- test/net`;
    }
    throw error;
  }
}

function without(sections: readonly string[], known: readonly string[]): string {
  return sections.filter((section) => !known.includes(section)).join('\n\n');
}
