import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';

const SECTION = readFileSync('test/README.md', 'utf8').split('\n## What shows each promise\n')[1]!.split('\n## ')[0]!;
const PROMISES = SECTION.split(/^\*\*(?=.+\*\*$)/m)
  .slice(1)
  .map((part) => ({ promise: part.split('**')[0]!, defences: itemsOf(part) }));
const DEFENCES = PROMISES.flatMap(({ defences }) => defences);

function itemsOf(part: string): string[] {
  return [...part.matchAll(/^- (.+(?:\n {2}.+)*)/gm)].map(([, item]) => item!.replace(/\s+/g, ' ').trim());
}

/** The file of a suite, or of what several suites run, or a folder. */
function fileOf(suite: string): string | undefined {
  return [`test/${suite}.spec.ts`, `test/${suite}.whole.spec.ts`, `test/${suite}.ts`, `test/${suite}`].find(existsSync);
}

describe('the defences in test/README.md', () => {
  it('are those of the five promises, and of what is besides them', () => {
    expect(PROMISES.map(({ promise }) => promise.slice(0, 2))).toEqual(['1.', '2.', '3.', '4.', '5.', 'Be']);
    for (const { promise, defences } of PROMISES) expect([promise, defences.length > 1]).toEqual([promise, true]);
  });

  it('are more than twenty', () => expect(DEFENCES.length).toBeGreaterThan(20));

  it.each(DEFENCES)('name suites that exist: %s', (defence) => {
    const named = [...defence.matchAll(/`([a-z][\w./-]*)`(?: "([^"]+)")?/g)];
    expect(named).not.toEqual([]);
    for (const [, suite, test] of named) {
      const file = fileOf(suite!);
      expect([suite, file]).toEqual([suite, expect.any(String)]);
      if (test !== undefined) expect(readFileSync(file!, 'utf8')).toContain(test);
      // A folder without a test shows nothing.
      if (statSync(file!).isDirectory()) {
        expect(readdirSync(file!, { recursive: true, encoding: 'utf8' }).join('\n')).toMatch(/\.ts$/m);
      }
    }
  });
});

it('SECURITY.md leads to them', () => {
  expect(readFileSync('SECURITY.md', 'utf8')).toContain('](test/README.md)');
});
