import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const SPECS = 'test/net';
const EXPECTED = 'test/net/expected';
const ACCEPT = `If the difference is meant, accept it with
  UPDATE_NET=1 npm run jest -- test/net
and name it in the CHANGELOG.`;

const isUpdating = process.env['UPDATE_NET'] === '1';

/** Compares a text with the committed file of that name in test/net/expected. With UPDATE_NET=1 it writes the file. */
export function expectText(name: string, actual: string): void {
  const file = join(EXPECTED, name);
  if (isUpdating) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, actual);
  }
  const expected = existsSync(file) ? readFileSync(file, 'utf8') : '(there is no such file)';
  const difference = differenceOf(actual, expected);
  if (difference !== null) throw new Error(`${file} is not what the code gives now. ${ACCEPT}\n\n${difference}`);
}

/** As Jest shows it. */
function differenceOf(actual: string, expected: string): string | null {
  try {
    expect(actual).toBe(expected);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Fails if there is a file that nothing is compared with: one that begins with the name of this spec and is not among
 * `names`, or one that begins with the name of no spec. With UPDATE_NET=1 it deletes this spec's.
 */
export function expectNoOtherTexts(spec: string, names: readonly string[]): void {
  const specs = readdirSync(SPECS).flatMap((file) => /^(.+)\.spec\.ts$/.exec(file)?.[1] ?? []);
  const files = readdirSync(EXPECTED, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(EXPECTED, join(entry.parentPath, entry.name)));
  const unused = files.filter((file) => file.startsWith(spec) && !names.includes(file));
  const ownerless = files.filter((file) => !specs.some((other) => file.startsWith(other)));
  if (isUpdating) for (const file of unused.splice(0)) rmSync(join(EXPECTED, file));
  expect([...unused, ...ownerless]).toEqual([]);
}
