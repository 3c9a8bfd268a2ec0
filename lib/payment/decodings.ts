import { recoded } from './own-bytes.js';

/** One encoding around another is undone, too; nobody escapes more often by accident. */
const MAX_LEVELS = 2;
const MAX_ESCAPES = 8;
/** What is worth decoding once more: of the noise, next to nothing. */
const ENCODED = /[A-Za-z0-9+/=_%&#;\\-]{12}/;
const MIN_ENCODED = 12;
/** What an escape begins with, and what NFKC may change. */
const ESCAPED = /[%\\&\u0080-\uffff]/;
/** The four places at which a group of Base64 can begin, the two at which a byte in hex can. */
const BASE64_STARTS = [0, 1, 2, 3];
const HEX_STARTS = [0, 1];

/**
 * What a text may say to whoever decodes it: itself, without its escapes, and as Base64 and hex, however the characters
 * are spaced. Most of it is noise, made to be searched. The work grows with the length of the text alone.
 *
 * @param soughtLength of what is searched for: what would be too short to hold it, and to be decoded once more, is not
 *   made, which saves most of the work, since most texts of a reply are short
 */
export function decodings(text: string, soughtLength = 0): string[] {
  const minLength = Math.min(soughtLength, MIN_ENCODED);
  if (isTooShort(text, minLength) && !ESCAPED.test(text)) return [text];
  const found = new Set([text]);
  let level = [text];
  for (let count = 0; count < MAX_LEVELS && level.length > 0; count += 1) {
    const next = level.flatMap((one) => [
      withoutEscapes(one),
      ...fromBase64(one, minLength),
      ...fromHex(one, minLength),
    ]);
    level = next.filter((one) => !found.has(one) && ENCODED.test(one));
    for (const one of next) found.add(one);
  }
  return [...found];
}

/** Percent, JSON and HTML escapes undone, other ways to write a digit or letter (full width, superscript) made plain. */
export function withoutEscapes(text: string): string {
  // Of the texts in a reply, next to none has anything to undo.
  if (!ESCAPED.test(text)) return text;
  let plain = text.normalize('NFKC');
  for (let count = 0; count < MAX_ESCAPES; count += 1) {
    const next = plain
      .replace(/(?:%[0-9a-f]{2})+/gi, (bytes) => recoded(bytes.replaceAll('%', ''), 'hex', 'utf8'))
      .replace(/\\u([0-9a-f]{4})|\\x([0-9a-f]{2})/gi, (_match, long?: string, short?: string) =>
        String.fromCharCode(parseInt(long ?? short ?? '', 16)),
      )
      .replace(/\\(["'/\\])/g, '$1')
      .replace(/&amp;/gi, '&')
      .replace(/&#x0*([0-9a-f]{1,5});?/gi, (_match, hex: string) => character(parseInt(hex, 16)))
      .replace(/&#0*(\d{1,6});?/g, (_match, decimal: string) => character(Number(decimal)))
      .normalize('NFKC');
    if (next === plain) break;
    plain = next;
  }
  return plain;
}

/** For Base64, and so for hex. */
function isTooShort(encoded: string, minLength: number): boolean {
  return encoded.length * 3 < minLength * 4;
}

function fromBase64(text: string, minLength: number): string[] {
  if (isTooShort(text, minLength)) return [];
  const characters = text
    .replace(/-/g, '+')
    .replace(/_/g, '/')
    .replace(/[^A-Za-z0-9+/]/g, '');
  return BASE64_STARTS.map((start) => recoded(characters.slice(start), 'base64', 'latin1'));
}

function fromHex(text: string, minLength: number): string[] {
  if (text.length < minLength * 2) return [];
  const characters = text.replace(/[^0-9A-Fa-f]/g, '');
  return HEX_STARTS.map((start) => recoded(characters.slice(start), 'hex', 'latin1'));
}

function character(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : ' ';
}
