import { CURRENCIES } from './currency-table.js';

/** The Turkish lira, as a `currencyCode`. */
export const TRY = 949;
/** The US dollar, as a `currencyCode`. */
export const USD = 840;
/** The euro, as a `currencyCode`. */
export const EUR = 978;
/** The pound sterling, as a `currencyCode`. */
export const GBP = 826;

/** The numbers of the currencies in use, by ISO 4217. */
export const CURRENCY_CODES: readonly number[] = [...CURRENCIES.keys()];

/** Whether a value is the number of a currency that is in use: 949 is, `'949'`, `'TRY'` and 999 (no currency) are not. */
export function isCurrencyCode(value: unknown): value is number {
  return typeof value === 'number' && CURRENCIES.has(value);
}

/**
 * How many decimals an amount of this currency can have: 2 for the Turkish lira (949), 0 for the yen (392). Where there
 * is no such currency, which another rule says, 2, as most have.
 */
export function currencyDecimals(currencyCode: number): number {
  return CURRENCIES.get(currencyCode)?.[1] ?? 2;
}

/** The letters of a currency: `TRY` for 949; null where there is no such currency. */
export function currencyLetters(currencyCode: number): string | null {
  return CURRENCIES.get(currencyCode)?.[0] ?? null;
}

/** An amount for people who read a log or a list: `149.90 TRY`. A number that is no currency's is shown itself. */
export function amountWithCurrency(amount: string, currencyCode: number): string {
  return `${amount} ${currencyLetters(currencyCode) ?? currencyCode}`;
}
