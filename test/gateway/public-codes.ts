import { readFileSync } from 'node:fs';

/** A copy of the vendor's public list: code, English text, Turkish text. */
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

/** Codes that approve only in part or on a condition. */
export const APPROVAL_VARIANTS = ['B0008', 'B0010', 'B0011', 'B0016', 'B0032', 'B0085', 'B0087'];

/** Codes that do not say whether money moved. */
export const INDETERMINATE = ['B0006', 'B0020', 'B0022', 'B0068', 'B0091', 'B0095', 'B0096', 'B0098', 'B9999'];

/** All other codes, except the approval. */
export const DECLINES = PUBLIC_CODES.map(([code = '']) => code).filter(
  (code) => !['B0000', ...APPROVAL_VARIANTS, ...INDETERMINATE].includes(code),
);
