import { decodings } from './decodings.js';

/** What is known of the card that a payment was made with. */
export interface KnownCard {
  /** The number itself, digits only. */
  readonly cardNo?: string | undefined;
  /** As {@link maskCardNumber} made it. */
  readonly maskedCardNumber?: string | null;
}

const MIN_CARD_DIGITS = 13;
/** Shorter numbers are taken, but no mask shows anything of them. */
const MIN_CARD_LENGTH = 12;
const MIN_PART_DIGITS = 8;

/** First six digits and last four, the rest as asterisks; of fewer than 13 digits nothing is shown. */
export function maskCardNumber(cardNo: string): string {
  const digits = cardNo.replace(/\D/g, '');
  if (digits.length < MIN_CARD_DIGITS) return '*'.repeat(digits.length);
  return digits.slice(0, 6) + '*'.repeat(digits.length - 10) + digits.slice(-4);
}

/** Whether a text is, holds or encodes the card: forwards or backwards, however spaced, escaped, in Base64 or in hex. */
export function holdsCard(text: string, known: KnownCard): boolean {
  return cardFinder(known)(text);
}

/** {@link holdsCard} for many texts. */
export function cardFinder(known: KnownCard): (text: string) => boolean {
  const sought = soughtCard(known);
  if (!sought) return () => false;
  return (text) => decodings(text, sought.length).some((reading) => isInDigits(digitsOf(reading), sought));
}

/**
 * Whether a text has more digits of the card in a row than a mask shows at once, so that with the mask the rest can be
 * worked out. A row of one digit alone is found in identifiers by chance.
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

/** Whether a row of digits has the card in it, forwards or backwards. */
export function isCardIn(digits: string, known: KnownCard): boolean {
  const sought = soughtCard(known);
  return sought !== null && isInDigits(digits, sought);
}

/** Whether a short row of digits shows more of the card than its first six and its last four digits. */
export function isPartOfCard(digits: string, { cardNo = '', maskedCardNumber }: KnownCard): boolean {
  if (digits.length > 4 && cardNo.includes(digits) && !cardNo.slice(0, 6).includes(digits)) return true;
  const [, first, last] = shownDigits(maskedCardNumber) ?? [];
  return digits.length > 6 && [first, last].some((shown) => shown !== undefined && digits.includes(shown));
}

/** A row of digits to search for. */
interface SoughtCard {
  readonly length: number;
  /** The source of a regular expression. */
  readonly pattern: string;
}

/** The digits alone; of a mask, whose length is the number's, those between are any. */
function soughtCard({ cardNo, maskedCardNumber }: KnownCard): SoughtCard | null {
  if (cardNo !== undefined && cardNo.length >= MIN_CARD_LENGTH && /^\d+$/.test(cardNo)) {
    return { length: cardNo.length, pattern: cardNo };
  }
  const [, first, last] = shownDigits(maskedCardNumber) ?? [];
  if (first === undefined || last === undefined) return null;
  const length = maskedCardNumber?.length ?? 0;
  return { length, pattern: `${first}\\d{${length - 10}}${last}` };
}

function shownDigits(maskedCardNumber: string | null | undefined): RegExpExecArray | null {
  return /^(\d{6})\*{3,}(\d{4})$/.exec(maskedCardNumber ?? '');
}

function isInDigits(digits: string, { length, pattern }: SoughtCard): boolean {
  // Almost no text has as many digits: no pattern is made for the others.
  if (digits.length < length) return false;
  const expression = new RegExp(pattern);
  return expression.test(digits) || expression.test([...digits].reverse().join(''));
}

function digitsOf(text: string): string {
  return text.replace(/\D+/g, '');
}

/** Whether the digits end in the check digit that Luhn's formula (ISO/IEC 7812-1) gives. */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const isDoubled = (digits.length - index) % 2 === 0;
    const value = Number(digits[index]) * (isDoubled ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}
