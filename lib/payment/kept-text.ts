import { isNativeError } from 'node:util/types';

/*
 * The rule for texts of others that are kept or shown: of the gateway, of staff, and of errors that the host's code
 * threw. What is looked for is found as it is written or spaced, in any case; SECURITY.md says what is not found.
 */

/** A gateway's message is cut here. */
const MAX_MESSAGE = 200;
/** So much of a text is searched, so that a secret which begins in what is shown has its end in it. */
const MAX_SEARCHED = 1_000;
/** The longest field of an input. Only a host's own fields are longer; of these, the beginning is searched. */
const MAX_INPUT = 10_000;
/** A shorter secret counts as a whole word only, and one of less than three characters not at all. */
const MIN_ANYWHERE = 8;
const MIN_WORD = 3;
/** So many digits of a card number in a row are too many beside its mask. */
const CARD_PART = 7;
const MIN_CARD_LENGTH = 12;
const MAX_CARD_LENGTH = 19;
/** What a mask shows of a card number: six digits and four. */
const SHOWN_DIGITS = 10;
const NATIONAL_DIGITS = 10;
/** So long a word may be a key, a hash or an encoded text, unless it is only letters, or words that are joined. */
const LONG_WORD = 16;

const ID = /^[A-Za-z0-9._-]{1,64}$/;
const LETTERS_ONLY = /^\p{P}*[\p{L}\p{M}]+\p{P}*$/u;
/** `error.no-active-tax-zone`, `ORDER_STATE_ERROR`: what keys look like has letters of both cases in between. */
const JOINED_WORDS = /^\p{P}*(?:\p{Lu}?\p{Ll}+|\p{Lu}+)(?:[._:-](?:\p{Lu}?\p{Ll}+|\p{Lu}+))+\p{P}*$/u;
/** A result code as a word of its own, `B0051` or `RVV0000000401`; or a digit of any script. */
const CODE_OR_DIGIT = /(?<![\p{L}\p{N}])([A-Z]\d{4}|[A-Z]{3}0{4}\d{6})(?![\p{L}\p{N}])|\p{N}/gu;
const SEPARATORS = /[^\p{L}\p{N}]+/gu;
const NOT_SHOWN = /[^\p{L}\p{M}\p{N}\p{P} ]/gu;
/** Control, format and private characters, line separators, and half a surrogate pair. */
const INVISIBLE = /[\p{C}\u2028\u2029]/gu;
const UNWRITABLE = /[\p{Cc}\p{Cs}\u2028\u2029]/u;
/** Nine digits or more, whatever stands between them but letters. */
const LONG_NUMBER = /\p{N}(?:[^\p{L}\p{N}]*\p{N}){8}/u;
/** A date, perhaps with a time: `21.11.2026 14:30`, `2026-11-21T14:30:00`. It is no long number. */
const DATE =
  /(?<!\d)(?:[0-3]?\d[./-][01]?\d[./-]20\d\d|20\d\d-[01]\d-[0-3]\d)(?:[ T,]{1,2}[0-2]\d[:.][0-5]\d(?:[:.][0-5]\d)?)?(?!\d)/g;
const TOKEN = /[A-Za-z0-9+/=_-]{16,}/g;

/** From its first character to the one after its last. */
type Range = [from: number, to: number];

/** A merchant's secrets at the gateway. */
export interface Credentials {
  readonly clientSecret: string;
  readonly apiKey: string | null;
}

/** What a request carries besides its credentials. */
export interface Carried {
  readonly cardDetails?: { readonly cardNo: string; readonly expDate: string; readonly cvv: string };
  readonly cardHolderInfo?: { readonly cardHolderName: string; readonly buyerGsm: string };
}

/** Keeps what a request carries out of texts that are kept: of its answer, and of what the host's code threw. */
export class Masker {
  /** Each folded. A word is found only between two separators: it may be part of another text by chance. */
  readonly #secrets: readonly { readonly letters: string; readonly isWord: boolean }[];
  readonly #cardNo: string;

  /** @param credentials client secret and API key, as configured and as sent, and the sign */
  constructor(credentials: readonly (string | null)[], carried: Carried = {}) {
    const { cardNo = '', expDate = '', cvv = '' } = carried.cardDetails ?? {};
    const { cardHolderName = '', buyerGsm = '' } = carried.cardHolderInfo ?? {};
    this.#cardNo = cardNo;
    // A phone is also written without its country.
    const phones = [buyerGsm, fold(buyerGsm).slice(-NATIONAL_DIGITS)];
    const anywhere = [...credentials, cardNo, ...phones].map((text) => fold((text ?? '').normalize('NFKC')));
    const expiry = [expDate, `${expDate.slice(0, 2)}20${expDate.slice(2)}`];
    const words = [cvv, ...expiry, ...cardHolderName.normalize('NFKC').split(/[^\p{L}\p{M}]+/u)].map(fold);
    this.#secrets = [
      ...anywhere.map((letters) => ({ letters, isWord: letters.length < MIN_ANYWHERE })),
      ...words.map((letters) => ({ letters, isWord: true })),
    ].filter(({ letters }) => letters.length >= MIN_WORD);
  }

  /** An id of the gateway; null if it has another form, or holds a secret or too much of the card number. */
  keptId(id: unknown): string | null {
    if (typeof id !== 'string' || !ID.test(id)) return null;
    return holdsPartOfCard(id, this.#cardNo) || this.isIn(id) ? null : id;
  }

  /**
   * Letters, spaces and punctuation of a message, in one line; null if it has none. What is secret becomes three
   * asterisks, and a digit one, unless it is a result code's.
   */
  keptMessage(message: unknown, maxLength = MAX_MESSAGE): string | null {
    if (typeof message !== 'string') return null;
    const text = message.slice(0, MAX_SEARCHED).normalize('NFKC');
    // The last word is judged as a whole before it is cut.
    const end = maxLength + text.slice(maxLength).search(/\s|$/);
    let masked = '';
    let at = 0;
    for (const [from, to] of this.#find(text).filter(([start]) => start < end)) {
      // Those that touch are masked as one.
      if (from > at || masked === '') masked += `${text.slice(at, from)}***`;
      at = Math.max(at, to);
    }
    const words = `${masked}${text.slice(at, Math.max(at, end))}`.split(/\s+/).map(keptWord);
    const line = words.join(' ').replace(/ +/g, ' ').trim().slice(0, maxLength).replace(INVISIBLE, '').trim();
    return line === '' ? null : line;
  }

  /** Whether there is something secret in a text. */
  isIn(text: string): boolean {
    return this.#find(text).length > 0;
  }

  /** Where there is something secret, by where it begins. */
  #find(text: string): Range[] {
    const letters = fold(text);
    const found = this.#secrets.filter((secret) => letters.includes(secret.letters));
    if (found.length === 0) return [];
    const places = placesOfLetters(text);
    const ranges: Range[] = [];
    for (const { letters: secret, isWord } of found) {
      for (let at = letters.indexOf(secret); at !== -1; at = letters.indexOf(secret, at + 1)) {
        const next = at + secret.length;
        const [first = 0, end = 0] = [places[at], (places[next - 1] ?? 0) + 1];
        const isWhole = first !== (places[at - 1] ?? -2) + 1 && end !== places[next];
        if (isWhole || !isWord) ranges.push([first, end]);
      }
    }
    return ranges.sort(([one], [other]) => one - other);
  }
}

/**
 * What a person wrote, in one line. What may be a key becomes three asterisks; if there is a long number, which is no
 * date, each digit becomes one.
 */
export function keptNote(note: string, maxLength: number): string {
  const text = note.slice(0, maxLength + MAX_SEARCHED).normalize('NFKC');
  const isNumbered = LONG_NUMBER.test(text.replace(DATE, 'x'));
  const masked = text.replace(TOKEN, (token) => (/[\d+=]/.test(token) ? '***' : token));
  return (isNumbered ? masked.replace(/\p{N}/gu, '*') : masked).slice(0, maxLength).replace(INVISIBLE, ' ');
}

/** Whether a value is a text that can be stored and sent. */
export function isWritable(value: unknown): value is string {
  return typeof value === 'string' && !UNWRITABLE.test(value);
}

/** The first six digits and the last four, the rest as asterisks; only asterisks for fewer than 13 digits. */
export function maskCardNumber(cardNo: string): string {
  const digits = cardNo.replace(/\D/g, '');
  if (digits.length <= MIN_CARD_LENGTH) return '*'.repeat(digits.length);
  return digits.slice(0, 6) + '*'.repeat(digits.length - SHOWN_DIGITS) + digits.slice(-4);
}

/** Whether a text holds the card number. Where only its mask is left: 12 to 19 digits that begin and end as it does. */
export function holdsCard(
  text: string,
  { cardNo, maskedCardNumber = null }: { readonly cardNo?: string; readonly maskedCardNumber?: string | null },
): boolean {
  // No letters are looked for, and some become many when they are normalized.
  const letters = fold(
    text
      .slice(0, MAX_INPUT)
      .replace(/\p{L}+/gu, 'x')
      .normalize('NFKC'),
  );
  if (cardNo === undefined) return fitsMask(letters, maskedCardNumber);
  return cardNo.length >= MIN_CARD_LENGTH && letters.includes(cardNo);
}

/** Whether a text holds seven digits of the card number in a row. */
function holdsPartOfCard(text: string, cardNo: string): boolean {
  const letters = fold(text);
  for (let start = 0; start + CARD_PART <= cardNo.length; start += 1) {
    if (letters.includes(cardNo.slice(start, start + CARD_PART))) return true;
  }
  return false;
}

function keptWord(word: string): string {
  if (word.length >= LONG_WORD && !LETTERS_ONLY.test(word) && !JOINED_WORDS.test(word)) return '';
  return word.replace(CODE_OR_DIGIT, (_match, code?: string) => code ?? '*').replace(NOT_SHOWN, ' ');
}

/** Letters and digits without case: i, İ, ı and I are one letter, since Turkish and English write them differently. */
function fold(text: string): string {
  return text.toLowerCase().replaceAll('ı', 'i').replace(SEPARATORS, '');
}

/** The place in the text of each letter that {@link fold} leaves. */
function placesOfLetters(text: string): number[] {
  let at = 0;
  return Array.from(text).flatMap((character) => {
    const places = Array.from({ length: fold(character).length }, () => at);
    at += character.length;
    return places;
  });
}

/** Whether there are 12 to 19 digits in a row that begin and end as a mask does. */
function fitsMask(letters: string, mask: string | null): boolean {
  const [, first, last] = /^(\d{6})\*+(\d{4})$/.exec(mask ?? '') ?? [];
  const [fewest, most] = [MIN_CARD_LENGTH, MAX_CARD_LENGTH].map((length) => length - SHOWN_DIGITS);
  return first !== undefined && new RegExp(`${first}\\d{${fewest},${most}}${last}`).test(letters);
}

/** What the host's code threw, in a form that may be stored and logged. */
export interface Thrown {
  /** Name and message, and those of the cause: `TypeError: no route`. */
  readonly error: string;
  /** Where in the host's code: `Orders.paid (dist/orders.js:4:5)`, innermost first; empty if that is not known. */
  readonly at: readonly string[];
}

/** Only the beginning of a longer stack is read. */
const MAX_STACK_LENGTH = 10_000;
const MAX_PLACES = 3;
/** With the line and the column at its end. */
const PLACE = /^at (?:async )?(.*?)(:\d+:\d+\)?)$/;
/** Node's own code, packages (this one, too), and code without a file. */
const NOT_HOST_CODE = /node_modules|node:|<anonymous>/;
const LONG_DIGITS = /\d(?:[^\p{L}\p{N}]*\d){8,}/gu;

/**
 * Describes what the host's code threw. Its texts may hold anything that the code was given.
 *
 * @param masker of the request that was being made or answered
 */
export function describeThrown(thrown: unknown, masker: Masker): Thrown {
  try {
    if (isError(thrown)) {
      const at = placesIn(thrown).filter((place) => !masker.isIn(place));
      return { error: masker.keptMessage(textOf(thrown)) ?? 'an error without a text', at };
    }
  } catch {
    // The thrown value may have getters that throw, or a message that is not a text.
  }
  return { error: 'threw something that is no Error', at: [] };
}

/** {@link describeThrown} where no more is known than the credentials. */
export function describeHostError(thrown: unknown, { clientSecret, apiKey }: Credentials): Thrown {
  return describeThrown(thrown, new Masker([clientSecret, apiKey]));
}

/** `: TypeError: no route, at Orders.paid (dist/orders.js:4:5)`, for the end of a line in the log. */
export function thrownText({ error, at: [place] }: Thrown): string {
  return `: ${error}${place === undefined ? '' : `, at ${place}`}`;
}

function textOf(error: Error): string {
  const { cause } = error;
  return `${error.name}: ${error.message}${isError(cause) ? `; cause: ${cause.name}: ${cause.message}` : ''}`;
}

/** Also true for an error of another realm, as in Jest. */
function isError(value: unknown): value is Error {
  return value instanceof Error || isNativeError(value);
}

function placesIn({ stack, message }: { readonly stack?: unknown; readonly message: string }): string[] {
  if (typeof stack !== 'string') return [];
  // The message comes first, and may have lines that look like places.
  const start = stack.indexOf(message);
  return stack
    .slice(start < 0 ? 0 : start + message.length)
    .slice(0, MAX_STACK_LENGTH)
    .split('\n')
    .filter((line) => !NOT_HOST_CODE.test(line))
    .flatMap((line) => {
      const [, where, position] = PLACE.exec(line.trim()) ?? [];
      return where === undefined || position === undefined ? [] : [shortened(where) + position];
    })
    .slice(0, MAX_PLACES);
}

function shortened(place: string): string {
  return place.replace('file://', '').replace(`${process.cwd()}/`, '').replace(LONG_DIGITS, '***');
}
