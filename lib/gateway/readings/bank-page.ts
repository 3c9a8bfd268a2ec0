import { ownBytes } from '../../payment/own-bytes.js';
import type { ReplyFields } from './reply-fields.js';

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const HTML_TAG = /<\s*(?:!doctype|html|head|body|form|script|iframe|div|meta|input)\b/i;

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** The page's HTML when the text is Base64 of UTF-8 HTML, otherwise null. */
export function decodeBankPage(content: string): string | null {
  const bytes = ownBytes(content, 'base64');
  try {
    if (!isBase64(content, bytes)) return null;
    const html = UTF8.decode(bytes);
    return HTML_TAG.test(html) ? html : null;
  } catch {
    return null;
  } finally {
    bytes.fill(0);
  }
}

/** A page as received, Base64, and its text. */
export interface BankPage {
  readonly content: string;
  readonly html: string;
}

/**
 * Finds the page in an Init3d answer. The interface says only that there is one; so without a `contentField` it is the
 * one text in the answer that is Base64 of HTML.
 */
export function findBankPage(fields: ReplyFields, contentField: string | undefined): BankPage | null {
  const candidates = contentField === undefined ? [...fields.texts()] : [fields.text(contentField) ?? ''];
  const pages = candidates.flatMap((content) => {
    const html = decodeBankPage(content);
    return html === null ? [] : [{ content, html }];
  });
  return pages.length === 1 ? (pages[0] ?? null) : null;
}

/** With line breaks or without. Encoding it once more is faster than a pattern, by a quarter of an Init3d of 64 KiB. */
function isBase64(text: string, bytes: Buffer): boolean {
  return bytes.toString('base64') === text ? text !== '' : BASE64.test(text.replace(/\s/g, ''));
}
