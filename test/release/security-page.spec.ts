import { existsSync, readFileSync } from 'node:fs';

const ROWS = readFileSync('SECURITY.md', 'utf8')
  .split('## What is protected')[1]!
  .split('\n## ')[0]!
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .slice(2)
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, threat, defence, tests]) => ({ threat: threat!, defence: defence!, tests: tests! }));

function inBackticks(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, quoted]) => quoted!);
}

describe('the table of threats in SECURITY.md', () => {
  it('has more than twenty rows', () => expect(ROWS.length).toBeGreaterThan(20));

  it.each(ROWS)('names existing files and tests against this threat: $threat', ({ defence, tests }) => {
    const files = inBackticks(defence).filter((text) => text.includes('/'));
    expect(files.filter((file) => !existsSync(`lib/${file}`) && !existsSync(file))).toEqual([]);
    expect(tests).not.toBe('');
    for (const [, suite, name] of tests.matchAll(/`([^`]+)`(?: "([^"]+)")?/g)) {
      const spec = [`test/${suite}.spec.ts`, `test/${suite}.ts`, `test/${suite}`].find((path) => existsSync(path));
      expect([suite, spec]).toEqual([suite, expect.any(String)]);
      if (name) expect(readFileSync(spec!, 'utf8')).toContain(name);
    }
  });
});
