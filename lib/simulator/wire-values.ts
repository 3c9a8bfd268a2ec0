import { randomUUID } from 'node:crypto';

/** A JSON number with the digits as they were written: `60.00` stays `60.00`. */
export class JsonNumber {
  constructor(readonly text: string) {}
}

/** A JSON value whose numbers keep the digits as written. */
export type JsonValue = string | boolean | null | JsonNumber | JsonValue[] | JsonObject;
export interface JsonObject {
  [field: string]: JsonValue | undefined;
}

/** Strings are matched as a whole, so that only numbers are left. */
const STRING_OR_DIGITS = /("(?:\\.|[^"\\])*"?)|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** @throws SyntaxError when the text is not JSON, RangeError when it is nested too deep */
export function parseExact(text: string): JsonValue {
  JSON.parse(text);
  const mark = randomUUID();
  const marked = text.replace(STRING_OR_DIGITS, (match, string?: string) => string ?? `"${mark}${match}"`);
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? new JsonNumber(value.slice(mark.length)) : value,
  ) as JsonValue;
}

export function stringifyExact(value: JsonValue): string {
  const mark = randomUUID();
  const text = JSON.stringify(value, (_key, member: unknown) =>
    member instanceof JsonNumber ? `${mark}${member.text}` : member,
  );
  return text.replace(new RegExp(`"${mark}([^"]*)"`, 'g'), '$1');
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

/** The currencies that the simulator accepts, by their ISO 4217 numbers. */
const CURRENCIES = new Map([
  [48, { letters: 'BHD', decimals: 3 }],
  [124, { letters: 'CAD', decimals: 2 }],
  [152, { letters: 'CLP', decimals: 0 }],
  [392, { letters: 'JPY', decimals: 0 }],
  [400, { letters: 'JOD', decimals: 3 }],
  [410, { letters: 'KRW', decimals: 0 }],
  [414, { letters: 'KWD', decimals: 3 }],
  [512, { letters: 'OMR', decimals: 3 }],
  [643, { letters: 'RUB', decimals: 2 }],
  [682, { letters: 'SAR', decimals: 2 }],
  [756, { letters: 'CHF', decimals: 2 }],
  [784, { letters: 'AED', decimals: 2 }],
  [788, { letters: 'TND', decimals: 3 }],
  [826, { letters: 'GBP', decimals: 2 }],
  [840, { letters: 'USD', decimals: 2 }],
  [944, { letters: 'AZN', decimals: 2 }],
  [949, { letters: 'TRY', decimals: 2 }],
  [978, { letters: 'EUR', decimals: 2 }],
]);

export function currencyOf(code: number) {
  return CURRENCIES.get(code);
}

/** The amount in the smallest unit of the currency; both `60` and `60.00` are 6000 kuruş. */
export function minorUnits(amount: string, currencyCode: number): bigint {
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(currencyOf(currencyCode)?.decimals ?? 0, '0'));
}

export function majorUnits(minor: bigint, currencyCode: number): string {
  return withDecimals(minor, currencyOf(currencyCode)?.decimals ?? 0);
}

/** The facilitator's commission in percent, as the replies show it. */
export const COMMISSION_RATE = '1.99';

/** The commission with four decimals, rounded half up. */
export function commissionOf(amount: string): string {
  const [whole = '0', fraction = ''] = amount.split('.');
  const unit = 10n ** BigInt(fraction.length);
  const exact = BigInt(whole + fraction) * BigInt(COMMISSION_RATE.replace('.', ''));
  return withDecimals((exact * 2n + unit) / (unit * 2n), 4);
}

/** The amount as people of that language write it, such as `₺1.149,90`. */
export function displayAmount(amount: string, currencyCode: number, language: 'tr' | 'en'): string {
  const format = new Intl.NumberFormat(language === 'tr' ? 'tr-TR' : 'en-GB', {
    style: 'currency',
    currency: currencyOf(currencyCode)?.letters ?? 'XXX',
    currencyDisplay: 'narrowSymbol',
  });
  return format.format(amount as `${number}`);
}

function withDecimals(value: bigint, decimals: number): string {
  if (decimals === 0) return value.toString();
  const digits = value.toString().padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

const ISTANBUL_OFFSET_MS = 3 * 60 * 60 * 1000;

/** `dd/MM/yyyy HH:mm:ss`, Istanbul time. */
export function replyDate(at: Date): string {
  const [date = '', time = ''] = inIstanbul(at).toISOString().split('T');
  return `${date.split('-').reverse().join('/')} ${time.slice(0, 8)}`;
}

/** ISO 8601 with the offset of Istanbul. */
export function istanbulTime(at: Date): string {
  return `${inIstanbul(at).toISOString().slice(0, 19)}+03:00`;
}

/** Whether both are on the same day in Istanbul. */
export function isSameDay(one: Date, other: Date): boolean {
  return replyDate(one).slice(0, 10) === replyDate(other).slice(0, 10);
}

/** The first six digits of a bank reference: last digit of the year, day of the year, hour. */
export function referencePrefix(at: Date): string {
  const local = inIstanbul(at);
  const dayOfYear = Math.floor((local.getTime() - Date.UTC(local.getUTCFullYear(), 0, 1)) / 86_400_000) + 1;
  const parts = [local.getUTCFullYear() % 10, String(dayOfYear).padStart(3, '0'), local.toISOString().slice(11, 13)];
  return parts.join('');
}

/** Whether the month of an MMyy expiry is over. */
export function isExpired(expDate: string, now: Date): boolean {
  const monthAfter = Date.UTC(2000 + Number(expDate.slice(2)), Number(expDate.slice(0, 2)), 1);
  return inIstanbul(now).getTime() >= monthAfter;
}

function inIstanbul(at: Date): Date {
  return new Date(at.getTime() + ISTANBUL_OFFSET_MS);
}
