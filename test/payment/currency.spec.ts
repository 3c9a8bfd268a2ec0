import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { EUR, GBP, TRY, USD } from 'nestjs-card-payment';
import {
  amountWithCurrency,
  CURRENCY_CODES,
  currencyDecimals,
  currencyLetters,
  isCurrencyCode,
} from '../../lib/payment/amount.js';

/** Currencies of ISO 4217, by decimals: all without two of them, and some with two. */
const ISO_4217: readonly (readonly [decimals: number, currencies: string])[] = [
  [0, 'BIF 108, CLP 152, DJF 262, GNF 324, ISK 352, JPY 392, KMF 174, KRW 410, PYG 600, RWF 646, UGX 800, UYI 940'],
  [0, 'VND 704, VUV 548, XAF 950, XOF 952, XPF 953'],
  [2, 'TRY 949, USD 840, EUR 978, GBP 826, CHF 756, AZN 944, RUB 643, UAH 980, SAR 682, AED 784, QAR 634, HUF 348'],
  [2, 'ALL 8, XCG 532, XAD 396, ZWG 924'],
  [3, 'BHD 48, IQD 368, JOD 400, KWD 414, LYD 434, OMR 512, TND 788'],
  [4, 'CLF 990, UYW 927'],
];
const CURRENCIES = ISO_4217.flatMap(([decimals, currencies]) =>
  currencies.split(', ').map((currency): [string, number, number] => {
    const [letters = '', code] = currency.split(' ');
    return [letters, Number(code), decimals];
  }),
);

it.each(CURRENCIES)('an amount in %s (%i) has %i decimals', (letters, code, decimals) => {
  expect(isCurrencyCode(code)).toBe(true);
  expect(currencyDecimals(code)).toBe(decimals);
  expect(amountWithCurrency('149.90', code)).toBe(`149.90 ${letters}`);
});

it('an amount has two decimals in every other currency', () => {
  const unusual = CURRENCIES.filter(([, , decimals]) => decimals !== 2).map(([, code]) => code);
  const others = CURRENCY_CODES.filter((code) => !unusual.includes(code));
  expect(others.length).toBeGreaterThan(120);
  for (const code of others) expect(currencyDecimals(code)).toBe(2);
});

it.each([
  ['no number of the list', [1, 7, 100, 500, 948.5, 1_000, 9_490, -949, 0, NaN, Infinity]],
  ['gold, silver, platinum and palladium', [959, 961, 962, 964]],
  ['units that banks reckon in', [955, 956, 957, 958, 960, 965, 994]],
  ['tests and no currency', [963, 999]],
  ['the old liras of Turkey and Italy, the mark, the franc', [792, 380, 276, 250]],
  ['what has been replaced: HRK, SLL, ZWL, CUC, BGN', [191, 694, 932, 931, 975]],
  ['what is no number', ['949', 'TRY', '', null, undefined, [949], { valueOf: (): number => 949 }, 949n, true]],
])('is no currency: %s', (_what, values) => {
  for (const value of values) expect([value, isCurrencyCode(value)]).toEqual([value, false]);
});

it('shows the number of what is no currency', () => {
  expect([currencyLetters(999), amountWithCurrency('149.90', 999)]).toEqual([null, '149.90 999']);
});

it('has constants for those that shops here take', () => {
  expect([TRY, USD, EUR, GBP].map(currencyLetters)).toEqual(['TRY', 'USD', 'EUR', 'GBP']);
});

it('takes an amount of what is no currency for one of two decimals', () => {
  for (const code of [1, 963, 999, 792, NaN]) expect(currencyDecimals(code)).toBe(2);
});

it('is the list of ISO 4217 that the installed currency-codes has, with what was published since', () => {
  const printed = execFileSync(process.execPath, ['scripts/generate-currencies.js', '--print'], { encoding: 'utf8' });
  // If this fails after an update of currency-codes: npm run currencies.
  expect(readFileSync('lib/payment/currency-table.ts', 'utf8')).toBe(printed);
});
