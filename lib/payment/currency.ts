import { CURRENCIES } from './currency-table.js';

/** The Turkish lira, as a `currencyCode`. */
export const TRY = 949;
/** The US dollar, as a `currencyCode`. */
export const USD = 840;
/** The euro, as a `currencyCode`. */
export const EUR = 978;
/** The pound sterling, as a `currencyCode`. */
export const GBP = 826;

/** The ISO 4217 numeric codes of all currencies in use. */
export const CURRENCY_CODES: readonly number[] = [...CURRENCIES.keys()];

/** Whether a value is the numeric code of a currency in use: 949 is; `'949'`, `'TRY'` and 999 (no currency) are not. */
export function isCurrencyCode(value: unknown): value is number {
  return typeof value === 'number' && CURRENCIES.has(value);
}

/**
 * How many decimals an amount in this currency may have: 2 for the Turkish lira (949), 0 for the yen (392). Also 2 for
 * a code that does not exist, which another rule reports.
 */
export function currencyDecimals(currencyCode: number): number {
  return CURRENCIES.get(currencyCode)?.[1] ?? 2;
}

/** The letters of a currency: `TRY` for 949; null for a code that does not exist. */
export function currencyLetters(currencyCode: number): string | null {
  return CURRENCIES.get(currencyCode)?.[0] ?? null;
}

/** An amount for logs and lists: `149.90 TRY`. A code that does not exist is shown as its number. */
export function amountWithCurrency(amount: string, currencyCode: number): string {
  return `${amount} ${currencyLetters(currencyCode) ?? currencyCode}`;
}
