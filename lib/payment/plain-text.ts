import { holdsCard, isCardIn, isPartOfCard, type KnownCard } from './card-mask.js';
import { decodings, withoutEscapes } from './decodings.js';
import { type DigitRun, digitRuns } from './digit-runs.js';
import { recoded } from './own-bytes.js';

const MIN_LONG_NUMBER = 9;
const MIN_BLOB = 16;
/** Beside a long number, even a short one may be an expiry or a security code. */
const MIN_NUMBER_BESIDE = 3;
/** Controls, what is not seen (soft hyphens, directions, tags), and what has no meaning of its own. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\u2028\u2029]/gu;

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
