import { currencyDecimals } from '../../payment/currency.js';

/** More is no amount of money, and might be a card number. */
const MAX_DIGITS = 15;
/** Digits with points and commas between them, and the name or sign of a currency before or after them. */
const AMOUNT = /^(?:(?:TRY|TL|₺)\s?)?(\d[\d.,]*)(?:\s?(?:TRY|TL|₺))?$/i;

/**
 * Reads an amount in major units as a gateway may write it: `1250.5`, `1250,50`, `1.250,50`, `1,250.50`, `₺1.250,50`.
 * The digits are kept as they are: nothing is rounded.
 *
 * @param currencyCode ISO 4217 numeric code; null if it is not known
 * @returns decimal text, with a point before the decimals; null if it is no amount, or could be two: `1.250` in a
 *   currency with two decimals, or in an unknown one
 */
export function readShownAmount(text: string, currencyCode: number | null): string | null {
  const [, digits = ''] = AMOUNT.exec(text.trim()) ?? [];
  if (digits === '' || digits.replace(/\D/g, '').length > MAX_DIGITS) return null;
  const mark = decimalMark(digits, currencyCode);
  if (mark === null) return null;
  const at = mark === '' ? digits.length : digits.lastIndexOf(mark);
  const [whole, fraction] = [digits.slice(0, at), digits.slice(at + 1)];
  const isGood = /^\d+$/.test(whole) || /^\d{1,3}([.,])\d{3}(?:\1\d{3})*$/.test(whole);
  if (!isGood || !/^\d*$/.test(fraction) || (mark !== '' && fraction === '')) return null;
  const plain = whole.replace(/\D/g, '').replace(/^0+(?=\d)/, '');
  return fraction === '' ? plain : `${plain}.${fraction}`;
}

/** The mark before the decimals; empty if there are none, null if that cannot be told. */
function decimalMark(digits: string, currencyCode: number | null): string | null {
  const marks = digits.match(/[.,]/g) ?? [];
  const [first, last = ''] = [marks[0], marks.at(-1)];
  if (first !== last) return last;
  if (marks.length === 0) return '';
  if (marks.length > 1) return '';
  const [whole = '', fraction = ''] = digits.split(last);
  const mayBeThousands = fraction.length === 3 && /^[1-9]\d{0,2}$/.test(whole);
  if (!mayBeThousands) return last;
  return currencyCode !== null && currencyDecimals(currencyCode) === 3 ? last : null;
}
