/** Whether the long forms run: `npm run test:whole`. Otherwise suites take fewer rounds, seeds and points. */
export const WHOLE = process.env['TESTS'] === 'whole';

/** How often, or how much: what is in the whole tests, and what is in the short ones. */
export function inWhole<T>(whole: T, short: T): T {
  return WHOLE ? whole : short;
}

/** All cases, or one in `every` of them in the short tests, which pass all of them on another store of the same kind. */
export function sample<T>(every: number, cases: readonly T[]): readonly T[] {
  return cases.filter((_case, index) => index % inWhole(1, every) === 0);
}
