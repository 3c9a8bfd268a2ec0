import { readFileSync } from 'node:fs';

/** The vendor's public list, copied: code, English text, Turkish text. */
export const PUBLIC_CODES = readFileSync('test/gateway/result-codes.tsv', 'utf8')
  .trimEnd()
  .split('\n')
  .slice(1)
  .map((line) => line.split('\t'));

/** Those that speak of the card or its account, by their texts: an inquiry that says one of them speaks of the sale. */
export const CARD_DECLINES = (
  '01 02 04 05 07 14 15 33 34 35 36 37 38 39 41 42 43 44 51 52' +
  ' 53 54 55 56 57 59 60 61 62 63 65 66 67 70 75 78 81 82 83'
)
  .split(' ')
  .map((number) => `B00${number}`);
