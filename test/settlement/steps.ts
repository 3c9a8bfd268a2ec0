/** What a step does, given the words after its own. */
export type Steps = Readonly<Record<string, (...words: string[]) => unknown>>;

/** Scripts of steps, by what they show. */
export type Cases = Readonly<Record<string, readonly string[]>>;

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/**
 * Takes steps such as `owe ONE TWO; pass 60s -> owed 2`, in lines or with semicolons between them. After an arrow
 * stands what is seen then.
 */
export async function takeSteps(script: string, steps: Steps, see: () => string): Promise<void> {
  const expected = script.split(/;|\n/).map((step) => step.trim());
  const taken: string[] = [];
  for (const step of expected) {
    const [words = '', seen] = step.split(' -> ');
    const [verb = '', ...given] = words.split(' ');
    if (!steps[verb]) throw new Error(`there is no step "${verb}"`);
    await steps[verb](...given);
    taken.push(seen === undefined ? words : `${words} -> ${see()}`);
  }
  expect(taken).toEqual(expected);
}

/** `3h`, `-500ms`. */
export function msOf(time = '0s'): number {
  const [, count, unit = ''] = /^(-?\d+)(\w+)$/.exec(time) ?? [];
  return Number(count) * UNITS[unit]!;
}

export function eachOf(cases: Cases): (readonly [what: string, script: string])[] {
  return Object.entries(cases).flatMap(([what, scripts]) => scripts.map((script) => [what, script] as const));
}
