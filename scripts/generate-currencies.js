// Writes lib/payment/currency-table.ts from ISO 4217's own list of the currencies in use, which currency-codes ships.
// `--print` prints it instead.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const LIST = createRequire(import.meta.url).resolve('currency-codes/iso-4217-list-one.xml');
const TABLE = 'lib/payment/currency-table.ts';

/**
 * What ISO has published since the list that currency-codes ships. One that has come into the list stops this script:
 * take it out here.
 */
const AMENDMENTS = [
  { amendment: 176, renamed: 'ANG', to: 'XCG' }, // the Caribbean guilder took over the number, 532
  { amendment: 178, withdrawn: 'CUC' },
  { amendment: 179, added: 'XAD', number: 396, decimals: 2 },
  { amendment: 180, withdrawn: 'BGN' }, // Bulgaria has had the euro since 2026-01-01
];

const { published, currencies } = readList(readFileSync(LIST, 'utf8'));
for (const amendment of AMENDMENTS) amend(currencies, amendment);
const table = tableOf(published, currencies);
if (process.argv.includes('--print')) process.stdout.write(table);
else writeFileSync(TABLE, table);

/** Currencies by their letters. Gold, test codes and "no currency" have no minor unit, so that no amount is of them. */
function readList(xml) {
  const [, published] = /<ISO_4217 Pblshd="([\d-]+)"/.exec(xml) ?? [];
  const currencies = new Map();
  for (const [, entry] of xml.matchAll(/<CcyNtry>([\s\S]*?)<\/CcyNtry>/g)) {
    // Antarctica and some others have no currency of their own.
    if (entry.includes('No universal currency')) continue;
    const [letters, number, decimals] = ['Ccy', 'CcyNbr', 'CcyMnrUnts'].map((name) => textOf(entry, name));
    if (decimals === 'N.A.') continue;
    if (!/^[A-Z]{3}$/.test(letters) || !/^\d{3}$/.test(number) || !/^\d$/.test(decimals)) {
      throw new Error(`${LIST} has an entry that this script cannot read: ${entry}`);
    }
    currencies.set(letters, { number: Number(number), decimals: Number(decimals) });
  }
  if (!published || currencies.size < 150) throw new Error(`${LIST} is not the list that this script can read`);
  return { published, currencies };
}

function textOf(entry, name) {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(entry)?.[1] ?? '';
}

function amend(currencies, { amendment, withdrawn, added, renamed, to, number, decimals }) {
  const leaving = withdrawn ?? renamed;
  const coming = added ?? to;
  if ((leaving && !currencies.has(leaving)) || (coming && currencies.has(coming))) {
    throw new Error(`The list has amendment ${amendment}: take it out of AMENDMENTS`);
  }
  if (coming) currencies.set(coming, added ? { number, decimals } : currencies.get(renamed));
  if (leaving) currencies.delete(leaving);
}

function tableOf(published, currencies) {
  const rows = [...currencies].sort(([, one], [, other]) => one.number - other.number);
  const numbers = rows.map(([, { number }]) => number);
  if (new Set(numbers).size !== numbers.length) throw new Error('Two currencies have the same number');
  const last = AMENDMENTS.at(-1)?.amendment;
  const texts = rows.map(
    ([letters, { number, decimals }]) => `${number} ${letters}${decimals === 2 ? '' : ` ${decimals}`}`,
  );
  return `// Written by scripts/generate-currencies.js (npm run currencies). Do not edit it by hand.

/** Number and letters of each currency, and its decimals where they are not 2. */
const ROWS = \`
${linesOf(texts).join('\n')}
\`;

/** The letters of a currency, and how many decimals its amounts can have. */
type Currency = readonly [letters: string, decimals: number];

/** The currencies of ISO 4217 by their numbers: the list of ${published}${last ? `, amended up to number ${last}` : ''}. */
export const CURRENCIES: ReadonlyMap<number, Currency> = new Map(
  ROWS.trim()
    .split(/,\\s*/)
    .map((row) => {
      const [number, letters = '', decimals = '2'] = row.split(' ');
      return [Number(number), [letters, Number(decimals)]];
    }),
);
`;
}

/** Rows in lines of at most 120 characters, all but the last with a comma. */
function linesOf(rows) {
  const lines = [];
  for (const row of rows) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + row.length < 115) lines.push(`${lines.pop()}, ${row}`);
    else lines.push(row);
  }
  return lines.map((line, index) => (index < lines.length - 1 ? `${line},` : line));
}
