import { readFileSync } from 'node:fs';

/**
 * A copy of the vendor's public list: code, English text, Turkish text; and what a charge is that is answered with the
 * code, as this project reads the texts.
 */
export const PUBLIC_CODES = readFileSync('test/gateway/result-codes.tsv', 'utf8')
  .trimEnd()
  .split('\n')
  .slice(1)
  .map((line) => line.split('\t'));

/** Codes whose texts are about the card or its account. In the answer to an inquiry, they are about the sale. */
export const CARD_DECLINES = (
  '01 02 04 05 07 14 15 33 34 35 36 37 38 39 41 42 43 44 51 52' +
  ' 53 54 55 56 57 59 60 61 62 63 65 66 67 70 75 78 81 82 83'
)
  .split(' ')
  .map((number) => `B00${number}`);

/** `variant`: codes that approve only in part or on a condition. `indeterminate`: that do not say if money moved. */
export function codesOf(wanted: string): string[] {
  return PUBLIC_CODES.flatMap(([code = '', , , kind]) => (kind === wanted ? [code] : []));
}

export const DECLINES = codesOf('declined');
