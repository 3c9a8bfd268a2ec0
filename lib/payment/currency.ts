import { CURRENCY_DECIMALS } from './currency-table.js';

/** The numbers of the currencies in use, by ISO 4217. */
export const CURRENCY_CODES: readonly number[] = [...CURRENCY_DECIMALS.keys()];

/** Whether a value is the number of a currency that is in use: 949 is, `'949'`, `'TRY'` and 999 (no currency) are not. */
export function isCurrencyCode(value: unknown): value is number {
  return typeof value === 'number' && CURRENCY_DECIMALS.has(value);
}

/**
 * How many decimals an amount of this currency can have: 2 for the Turkish lira (949), 0 for the yen (392). Where there
 * is no such currency, which another rule says, 2, as most have.
 */
export function currencyDecimals(currencyCode: number): number {
  return CURRENCY_DECIMALS.get(currencyCode) ?? 2;
}
