import { readFileSync } from 'node:fs';

/** The vendor's public list, copied: code, English text, Turkish text. */
export const PUBLIC_CODES = readFileSync('test/gateway/result-codes.tsv', 'utf8')
  .trimEnd()
  .split('\n')
  .slice(1)
  .map((line) => line.split('\t'));
