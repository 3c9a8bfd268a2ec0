import { decodings } from './decodings.js';

const MIN_CARD_DIGITS = 13;
/** Card numbers of this length are accepted, but masked completely. */
const MIN_CARD_LENGTH = 12;
const MIN_PART_DIGITS = 8;

/** What is known about the card of a payment. */
export interface KnownCard {
  /** The number itself, digits only. */
  readonly cardNo?: string | undefined;
  /** As {@link maskCardNumber} made it. */
  readonly maskedCardNumber?: string | null;
}

/** A card number to search for among digits. */
interface CardPattern {
  readonly length: number;
  /** The source of a regular expression. */
  readonly source: string;
}

/** The first six digits and the last four, the rest as asterisks; only asterisks for fewer than 13 digits. */
export function maskCardNumber(cardNo: string): string {
  const digits = cardNo.replace(/\D/g, '');
  if (digits.length < MIN_CARD_DIGITS) return '*'.repeat(digits.length);
  return digits.slice(0, 6) + '*'.repeat(digits.length - 10) + digits.slice(-4);
}

/** Whether a text holds the card number: forwards or backwards, with any spacing, escaped, in Base64 or in hex. */
export function holdsCard(text: string, known: KnownCard): boolean {
  return cardFinder(known)(text);
}

/** {@link holdsCard} for many texts. */
export function cardFinder(known: KnownCard): (text: string) => boolean {
  const pattern = patternOf(known);
  if (!pattern) return () => false;
  return (text) => decodings(text, pattern.length).some((decoded) => isInDigits(digitsOf(decoded), pattern));
}

/**
 * Whether a text has more consecutive digits of the card than the mask shows: with the mask, the rest could be worked
 * out. A repeated single digit does not count, since identifiers contain that by chance.
 */
export function holdsPartOfCard(text: string, cardNo: string): boolean {
  const digits = digitsOf(text);
  if (digits.length < MIN_PART_DIGITS) return false;
  for (let start = 0; start + MIN_PART_DIGITS <= cardNo.length; start += 1) {
    const part = cardNo.slice(start, start + MIN_PART_DIGITS);
    if (digits.includes(part) && !/^(\d)\1*$/.test(part)) return true;
  }
  return false;
}

/** Whether digits contain the card number, forwards or backwards. */
export function isCardIn(digits: string, known: KnownCard): boolean {
  const pattern = patternOf(known);
  return pattern !== null && isInDigits(digits, pattern);
}

/** Whether a few digits show more of the card number than its first six and its last four. */
export function isPartOfCard(digits: string, { cardNo = '', maskedCardNumber }: KnownCard): boolean {
  if (digits.length > 4 && cardNo.includes(digits) && !cardNo.slice(0, 6).includes(digits)) return true;
  const [, first, last] = shownDigits(maskedCardNumber) ?? [];
  return digits.length > 6 && [first, last].some((shown) => shown !== undefined && digits.includes(shown));
}

/** Matches the number; or, where only the mask is known, any digits in place of the asterisks. */
function patternOf({ cardNo, maskedCardNumber }: KnownCard): CardPattern | null {
  if (cardNo !== undefined && cardNo.length >= MIN_CARD_LENGTH && /^\d+$/.test(cardNo)) {
    return { length: cardNo.length, source: cardNo };
  }
  const [, first, last] = shownDigits(maskedCardNumber) ?? [];
  if (first === undefined || last === undefined) return null;
  const length = maskedCardNumber?.length ?? 0;
  return { length, source: `${first}\\d{${length - 10}}${last}` };
}

function shownDigits(maskedCardNumber: string | null | undefined): RegExpExecArray | null {
  return /^(\d{6})\*{3,}(\d{4})$/.exec(maskedCardNumber ?? '');
}

function isInDigits(digits: string, { length, source }: CardPattern): boolean {
  // Few texts have that many digits; the expression is compiled only for those.
  if (digits.length < length) return false;
  const expression = new RegExp(source);
  return expression.test(digits) || expression.test([...digits].reverse().join(''));
}

function digitsOf(text: string): string {
  return text.replace(/\D+/g, '');
}

/** Whether the last digit is the check digit by Luhn's formula (ISO/IEC 7812-1). */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const isDoubled = (digits.length - index) % 2 === 0;
    const value = Number(digits[index]) * (isDoubled ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}
