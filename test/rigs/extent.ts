/** Whether the long forms run: `TESTS=whole npm test`. Otherwise suites take fewer rounds, seeds and points. */
export const WHOLE = process.env['TESTS'] === 'whole';

/** How often, or how much: what is in the whole tests, and what is in the short ones. */
export function inWhole<T>(whole: T, short: T): T {
  return WHOLE ? whole : short;
}
