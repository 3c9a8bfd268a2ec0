import type { Translations } from '../runtime/text-language.js';
import { CURRENCIES } from './currency-table.js';

/** How an amount is written: `fixed` with all decimals of its currency (`60.00`), `shortest` without trailing zeros. */
export type AmountFormat = 'fixed' | 'shortest';

/** What can be wrong with an amount. These are also the names of the validation rules. */
export type AmountProblem = 'amountFormat' | 'amountPositive' | 'amountDecimals' | 'amountDigits';

/** Every JSON parser keeps fifteen digits, even if it reads numbers as binary floats. */
const MAX_AMOUNT_DIGITS = 15;

/** How to correct each problem. */
export const AMOUNT_TEXTS: Readonly<Record<AmountProblem, Translations>> = {
  amountFormat: {
    en: 'amount must be a plain decimal such as "149.90" or 149.9: no sign, exponent, space or comma',
    tr: 'amount "149.90" veya 149.9 gibi düz bir ondalık sayı olmalı: işaret, üs, boşluk veya virgül olmadan',
  },
  amountPositive: { en: 'amount must be above 0', tr: 'amount 0’dan büyük olmalı' },
  amountDecimals: {
    en: 'amount must have no more decimals than its currency; write it as text if it was computed',
    tr: 'amount, para biriminden fazla ondalık içermemeli; hesaplandıysa metin olarak yazın',
  },
  amountDigits: {
    en: `amount must have at most ${MAX_AMOUNT_DIGITS} digits`,
    tr: `amount en çok ${MAX_AMOUNT_DIGITS} rakam içermeli`,
  },
};

/**
 * What is wrong with an amount in major units; null if nothing is. A number is judged by its shortest text, so that
 * 0.1 + 0.2 has 17 decimals.
 */
export function amountProblem(amount: unknown, currencyCode: number): AmountProblem | null {
  const decimal = typeof amount === 'string' || typeof amount === 'number' ? readDecimal(String(amount)) : null;
  if (!decimal) return 'amountFormat';
  const { whole, fraction } = decimal;
  if (!/[1-9]/.test(whole + fraction)) return 'amountPositive';
  if (fraction.length > currencyDecimals(currencyCode)) return 'amountDecimals';
  return whole.length + fraction.length > MAX_AMOUNT_DIGITS ? 'amountDigits' : null;
}

/** An amount as it is sent, or what is wrong with it. */
export type CanonicalAmount = { readonly text: string } | { readonly problem: AmountProblem };

/**
 * The canonical text of an amount, which the body and the sign both carry digit for digit. Leading zeros are dropped.
 *
 * @param amount in major units
 * @param currencyCode ISO 4217 numeric code, which sets the number of decimals
 */
export function canonicalAmount(amount: string | number, currencyCode: number, format: AmountFormat): CanonicalAmount {
  const problem = amountProblem(amount, currencyCode);
  if (problem) return { problem };
  const { whole, fraction } = readDecimal(String(amount)) as Decimal;
  const decimals =
    format === 'fixed' ? fraction.padEnd(currencyDecimals(currencyCode), '0') : fraction.replace(/(?<!0)0+$/, '');
  return { text: (whole || '0') + (decimals && `.${decimals}`) };
}

/**
 * Compares two decimal texts of any length, without floats.
 *
 * @returns below 0, 0 or above 0; null if either is not a plain decimal, but has a sign, an exponent or a comma
 */
export function compareAmounts(a: string, b: string): number | null {
  const left = readDecimal(a);
  const right = readDecimal(b);
  if (!left || !right) return null;
  if (left.whole.length !== right.whole.length) return left.whole.length - right.whole.length;
  const decimals = Math.max(left.fraction.length, right.fraction.length);
  const l = left.whole + left.fraction.padEnd(decimals, '0');
  const r = right.whole + right.fraction.padEnd(decimals, '0');
  return l < r ? -1 : l > r ? 1 : 0;
}

interface Decimal {
  /** Without leading zeros, so empty for an amount below 1. */
  readonly whole: string;
  readonly fraction: string;
}

function readDecimal(text: string): Decimal | null {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text);
  return match && { whole: (match[1] ?? '').replace(/^0+/, ''), fraction: match[2] ?? '' };
}

/**
 * An amount in minor units (kuruş, cents) of a currency, exactly: 14990 of `'149.90'`, for a shop that counts in them.
 * What it has beyond the currency's decimals is cut off, so that never more is given back than was taken.
 *
 * @param amount in major units, as the module shows it
 * @param currencyCode ISO 4217 numeric code, which sets the number of decimals
 * @returns null if the text is not a plain decimal
 */
export function toMinorUnits(amount: string, currencyCode: number): bigint | null {
  const decimal = readDecimal(amount);
  if (!decimal) return null;
  const decimals = currencyDecimals(currencyCode);
  return BigInt(decimal.whole + decimal.fraction.padEnd(decimals, '0').slice(0, decimals));
}

/**
 * The text of an amount in minor units, with all decimals of its currency: `'149.90'` of 14990, for a shop that counts
 * in them.
 *
 * @param minor not negative
 * @param currencyCode ISO 4217 numeric code, which sets the number of decimals
 * @throws RangeError for a number that is not whole
 */
export function fromMinorUnits(minor: bigint | number, currencyCode: number): string {
  const decimals = currencyDecimals(currencyCode);
  const digits = BigInt(minor)
    .toString()
    .padStart(decimals + 1, '0');
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

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
