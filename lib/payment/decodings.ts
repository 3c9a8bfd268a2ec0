import { recoded } from './own-bytes.js';

/** How many encodings around each other are undone. More do not happen by accident. */
const MAX_LEVELS = 2;
/** How many escapes around each other are undone. */
const MAX_ESCAPES = 8;
/** A decoded text that may be encoded itself. Almost all decoded texts are noise, and do not match. */
const ENCODED = /[A-Za-z0-9+/=_%&#;\\-]{12}/;
const MIN_ENCODED = 12;
/** The first character of an escape, or a character that NFKC may change. */
const ESCAPED = /[%\\&\u0080-\uffff]/;
/** The characters at which a group of Base64, or a byte in hex, may begin. */
const BASE64_STARTS = [0, 1, 2, 3];
const HEX_STARTS = [0, 1];

/**
 * A text and what it may decode to: without its escapes, from Base64 and from hex, with any spacing. Most of the result
 * is noise; it is meant to be searched. The work grows only with the length of the text.
 *
 * @param searchedLength the length of what will be searched for. Texts too short to hold it, or to be decoded again,
 *   are not decoded. That saves most of the work, because most texts of a reply are short
 */
export function decodings(text: string, searchedLength = 0): string[] {
  const minLength = Math.min(searchedLength, MIN_ENCODED);
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

/** Undoes percent, JSON and HTML escapes; replaces full-width, superscript and similar forms by plain characters. */
export function withoutEscapes(text: string): string {
  // Most texts of a reply have nothing to undo.
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

/** Too short to hold as many bytes in Base64, and so in hex. */
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
