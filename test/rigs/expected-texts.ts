import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const isUpdating = process.env['UPDATE_EXPECTED'] === '1';

/** The texts in the folder `expected` beside a suite. With UPDATE_EXPECTED=1 they are written, not compared. */
export class ExpectedTexts {
  private readonly folder: string;
  private readonly acceptance: string;

  /** @param suite its `import.meta.url` */
  constructor(suite: string) {
    const file = relative('.', fileURLToPath(suite));
    this.folder = join(file, '..', 'expected');
    this.acceptance = [
      'If the difference is meant, accept it with',
      `  UPDATE_EXPECTED=1 npm run jest -- ${file}`,
      'and name it in the CHANGELOG.',
    ].join('\n');
  }

  /** Compares a text with the file of that name. */
  expect(name: string, actual: string): void {
    const file = join(this.folder, name);
    if (isUpdating) {
      mkdirSync(this.folder, { recursive: true });
      writeFileSync(file, actual);
    }
    const expected = existsSync(file) ? readFileSync(file, 'utf8') : '(there is no such file)';
    const difference = differenceOf(actual, expected);
    if (difference !== null) {
      throw new Error(`${file} is not what the code gives now. ${this.acceptance}\n\n${difference}`);
    }
  }

  /** Fails if there is a file that nothing is compared with: one that is not among `names`. */
  expectNoOthers(names: readonly string[]): void {
    const unused = readdirSync(this.folder).filter((file) => !names.includes(file));
    if (isUpdating) for (const file of unused.splice(0)) rmSync(join(this.folder, file));
    expect(unused).toEqual([]);
  }
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
