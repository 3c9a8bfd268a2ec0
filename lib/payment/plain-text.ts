import { holdsCard, isCardIn, isPartOfCard, type KnownCard } from './card-mask.js';
import { decodings, withoutEscapes } from './decodings.js';
import { recoded } from './own-bytes.js';

const MIN_LONG_NUMBER = 9;
/** In a text with a long number, a number of this length may be an expiry or a security code. */
const MIN_NUMBER_BESIDE = 3;
/** Shorter tokens do not count as encoded secrets. */
const MIN_TOKEN = 16;
const MIN_MASK_SIGNS = 3;
const MASK_SIGN = /[*•●xX#]/;
/** Digits of any script, and other characters for numbers: in circles, raised, Roman. */
const DIGIT = /\p{N}/u;
const LETTER = /\p{L}/u;
/** Control, format and private-use characters, which are invisible or have no fixed meaning. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\u2028\u2029]/gu;
/** Control characters, line separators, and lone surrogates, which UTF-8 cannot encode. */
const UNWRITABLE = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

const DAY = '(?:0[1-9]|[12]\\d|3[01])';
const MONTH = '(?:0[1-9]|1[0-2])';
const YEAR = '(?:19|20)\\d\\d';
const TIME = '(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:[.,]\\d{3})?)?';
const BYTE = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
/** Dates and IP addresses: long runs of digits that cannot be a card number. */
const HARMLESS = new RegExp(
  `^(?:(?:${DAY}[./-]${MONTH}[./-]${YEAR}|${YEAR}[./-]${MONTH}[./-]${DAY})(?:[ T,]{1,2}${TIME})?` +
    `|${BYTE}(?:\\.${BYTE}){3}(?::\\d{1,5})?)$`,
);
/** A word, or a short number with a few letters before it. */
const PLAIN_PART = /^(?:[A-Z]*[a-z]*(?:[A-Z][a-z]{2,})*|[A-Z]{0,4}\d{1,4}|[A-Z]?[a-z]{0,4}\d{1,4})$/;

/** Digits that a reader may see as one number. */
export interface DigitRun {
  readonly digits: string;
  /** The index of each digit in the text. */
  readonly places: readonly number[];
  /** From its first digit to its last. */
  readonly text: string;
  /** Whether some of its digits are masked: `4508****4509`. */
  readonly isMasked: boolean;
  /** Whether the text ends before a word ends the run, so that it may have been longer. */
  readonly isOpen: boolean;
}

/** Whether a value is a text that can be stored and sent. */
export function isWritable(value: unknown): value is string {
  return typeof value === 'string' && !UNWRITABLE.test(value);
}

/**
 * Makes another party's text safe to store, show and log: one line of limited length, without invisible characters and
 * lone surrogates, without numbers of nine or more digits in any spacing or escape (dates and IP addresses stay), and
 * without anything that could be an encoded secret. The text is cut first, so that a long one costs no more than a
 * short one.
 *
 * @param known the payment's card, whose shorter parts are hidden, too
 */
export function plainText(text: string, maxLength: number, known: KnownCard = {}): string {
  const isCut = text.length > maxLength;
  const line = oneLine(text.slice(0, maxLength));
  const safe = hideInReadings(line, (reading) => hideTokens(reading, hideLongNumbers(reading, known, isCut), isCut));
  return recoded(holdsCard(safe, known) ? '***' : oneLine(safe).slice(0, maxLength), 'utf8', 'utf8');
}

/**
 * Applies `hide` to a text and to the text without its escapes. If something is found only without them, the result is
 * without them, too.
 *
 * @param hide returns a text with nothing to hide as it is
 */
export function hideInReadings(text: string, hide: (reading: string) => string): string {
  const hidden = hide(text);
  const plain = withoutEscapes(text);
  return plain === text || hide(plain) === plain ? hidden : hide(withoutEscapes(hidden));
}

/**
 * Replaces the digits of long numbers by asterisks, and in a text with a long number also those of all other numbers
 * but the shortest ones.
 *
 * @param isCut whether the text was cut, so that a number at its end may have been longer
 */
function hideLongNumbers(text: string, known: KnownCard, isCut: boolean): string {
  const runs = digitRuns(text);
  const isSpread = isCardIn(runs.map(({ digits }) => digits).join(''), known);
  const isHidden = (run: DigitRun): boolean =>
    isSpread ||
    isPartOfCard(run.digits, known) ||
    isCardIn(run.digits, known) ||
    run.isMasked ||
    (run.isOpen && isCut) ||
    (run.digits.length >= MIN_LONG_NUMBER && !HARMLESS.test(run.text));
  const holdsHidden = runs.some(isHidden);
  const hidden = runs.filter((run) => isHidden(run) || (holdsHidden && run.digits.length >= MIN_NUMBER_BESIDE));
  const characters = text.split('');
  for (const place of hidden.flatMap(({ places }) => places)) {
    const width = (text.codePointAt(place) ?? 0) > 0xffff ? 2 : 1;
    characters.fill('*', place, place + width);
  }
  return characters.join('');
}

/**
 * Replaces tokens that could be an encoded secret.
 *
 * @param shown the same text, in which asterisks have replaced some characters one by one
 */
function hideTokens(text: string, shown: string, isCut: boolean): string {
  let result = '';
  let end = 0;
  for (const match of text.matchAll(/[A-Za-z0-9+/=_-]+/g)) {
    const [token] = match;
    const isUnfinished = isCut && match.index + token.length === text.length;
    if ((token.length >= MIN_TOKEN || isUnfinished) && !isPlain(token)) {
      result += `${shown.slice(end, match.index)}***`;
      end = match.index + token.length;
    }
  }
  return result + shown.slice(end);
}

/** Whether a token is words and short numbers: `ECONNREFUSED`, `PaymentStateError`, `order-2026/17`, `B0051`. */
function isPlain(token: string): boolean {
  const parts = token.split(/[-+/=_]/);
  return (
    parts.every((part) => PLAIN_PART.test(part)) &&
    [token, parts.join('')].every(
      (text) => !decodings(text).some((reading) => reading !== text && /\d{6}/.test(reading)),
    )
  );
}

function oneLine(text: string): string {
  return text.replace(INVISIBLE, ' ');
}

/**
 * The runs of digits in a text. Only words separate them: spaces, dots, signs, single letters and the x and * of masks
 * do not. One pass over the text.
 */
export function digitRuns(text: string): DigitRun[] {
  const runs: DigitRun[] = [];
  let digits = '';
  let places: number[] = [];
  let letters = 0;
  let signs = 0;
  let isMasked = false;
  const end = (isOpen: boolean): void => {
    const [first] = places;
    if (first !== undefined) {
      runs.push({ digits, places, text: text.slice(first, (places.at(-1) ?? first) + 1), isMasked, isOpen });
    }
    [digits, places, letters, signs, isMasked] = ['', [], 0, 0, false];
  };
  let index = 0;
  for (const character of text) {
    if (DIGIT.test(character)) {
      isMasked ||= signs >= MIN_MASK_SIGNS;
      digits += character;
      places.push(index);
      letters = signs = 0;
    } else if (MASK_SIGN.test(character)) {
      if (places.length > 0) signs += 1;
    } else if (LETTER.test(character)) {
      letters += 1;
      if (letters > 1) end(false);
    }
    index += character.length;
  }
  end(true);
  return runs;
}
