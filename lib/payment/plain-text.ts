import { holdsCard, isCardIn, isPartOfCard, type KnownCard } from './card-mask.js';
import { decodings, withoutEscapes } from './decodings.js';
import { recoded } from './own-bytes.js';

const MIN_LONG_NUMBER = 9;
const MIN_BLOB = 16;
/** Beside a long number, even a short one may be an expiry or a security code. */
const MIN_NUMBER_BESIDE = 3;
/** Controls, what is not seen (soft hyphens, directions, tags), and what has no meaning of its own. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\u2028\u2029]/gu;

/** Control characters, line separators, and halves of surrogate pairs, which have no UTF-8 form. */
const UNWRITABLE = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

const DAY = '(?:0[1-9]|[12]\\d|3[01])';
const MONTH = '(?:0[1-9]|1[0-2])';
const YEAR = '(?:19|20)\\d\\d';
const TIME = '(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:[.,]\\d{3})?)?';
const BYTE = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
/** Long rows of digits that are no card number, whatever their digits: no issuer's numbers fit these. */
const HARMLESS = new RegExp(
  `^(?:(?:${DAY}[./-]${MONTH}[./-]${YEAR}|${YEAR}[./-]${MONTH}[./-]${DAY})(?:[ T,]{1,2}${TIME})?` +
    `|${BYTE}(?:\\.${BYTE}){3}(?::\\d{1,5})?)$`,
);
const PLAIN_PART = /^(?:[A-Z]*[a-z]*(?:[A-Z][a-z]{2,})*|[A-Z]{0,4}\d{1,4}|[A-Z]?[a-z]{0,4}\d{1,4})$/;

/** Whether this is text that can be stored and sent. */
export function isWritable(value: unknown): value is string {
  return typeof value === 'string' && !UNWRITABLE.test(value);
}

/**
 * A text of others as it may be stored, shown and logged: one line of bounded length, without unseen characters and
 * lone surrogates, without numbers of nine digits or more, however they are spaced or escaped (dates and addresses of
 * hosts stay), and without what could be an encoded secret. It is cut before it is searched, so that a long text costs
 * no more than a short one.
 *
 * @param known the payment's card, of which shorter parts are hidden, too
 */
export function plainText(text: string, maxLength: number, known: KnownCard = {}): string {
  const isCut = text.length > maxLength;
  const line = oneLine(text.slice(0, maxLength));
  const safe = hideInReadings(line, (reading) => hideBlobs(reading, hideLongNumbers(reading, known, isCut), isCut));
  return recoded(holdsCard(safe, known) ? '***' : oneLine(safe).slice(0, maxLength), 'utf8', 'utf8');
}

/**
 * Hides in a text, and in what it says without its escapes; only where that turns something up are the escapes undone
 * for good.
 *
 * @param hide leaves a text without anything to hide as it is
 */
export function hideInReadings(text: string, hide: (reading: string) => string): string {
  const hidden = hide(text);
  const plain = withoutEscapes(text);
  return plain === text || hide(plain) === plain ? hidden : hide(withoutEscapes(hidden));
}

/**
 * Writes asterisks for the digits of long numbers, and for all but the shortest numbers beside one.
 *
 * @param isCut whether a number at the end may have been longer
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
  const isBeside = runs.some(isHidden);
  const hidden = runs.filter((run) => isHidden(run) || (isBeside && run.digits.length >= MIN_NUMBER_BESIDE));
  const characters = text.split('');
  for (const place of hidden.flatMap(({ places }) => places)) {
    const width = (text.codePointAt(place) ?? 0) > 0xffff ? 2 : 1;
    characters.fill('*', place, place + width);
  }
  return characters.join('');
}

/** @param shown the same text, what was hidden already as asterisks: one for each character */
function hideBlobs(text: string, shown: string, isCut: boolean): string {
  let result = '';
  let end = 0;
  for (const match of text.matchAll(/[A-Za-z0-9+/=_-]+/g)) {
    const [token] = match;
    const isUnfinished = isCut && match.index + token.length === text.length;
    if ((token.length >= MIN_BLOB || isUnfinished) && !isPlain(token)) {
      result += `${shown.slice(end, match.index)}***`;
      end = match.index + token.length;
    }
  }
  return result + shown.slice(end);
}

/** Words, perhaps run together, and short numbers: `ECONNREFUSED`, `PaymentStateError`, `order-2026/17`, `B0051`. */
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
  return text.replace(UNSEEN, ' ');
}

/** Digits that a reader would put together. */
export interface DigitRun {
  readonly digits: string;
  /** Where the digits stand in the text. */
  readonly places: readonly number[];
  /** From its first digit to its last. */
  readonly text: string;
  /** Whether digits are masked inside it: `4508****4509`. */
  readonly isMasked: boolean;
  /** Whether the text ends before it was seen that the run does. */
  readonly isOpen: boolean;
}

const MIN_MASK_SIGNS = 3;
const MASK_SIGN = /[*•●xX#]/;
/** Digits of any script, and what else stands for a number: in circles, raised, Roman. */
const DIGIT = /\p{N}/u;
const LETTER = /\p{L}/u;

/**
 * The digits of a text, put together across everything but words: spaces, dots, signs and single letters do not part
 * them, nor do the x and * of masks. In one pass.
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
