import type { ReplyFields } from './reply-fields.js';

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const HTML_TAG = /<\s*(?:!doctype|html|head|body|form|script|iframe|div|meta|input)\b/i;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** The HTML in a text that is Base64 of UTF-8 HTML; null for any other text. */
export function decodeBankPage(content: string): string | null {
  const bytes = Buffer.from(content, 'base64');
  try {
    if (!isBase64(content, bytes)) return null;
    const html = UTF8.decode(bytes);
    return isHtml(html) ? html : null;
  } catch {
    return null;
  }
}

export function isHtml(text: string): boolean {
  return HTML_TAG.test(text);
}

/** The bank's page. `content` is the Base64 as received, `html` the decoded page. */
export interface BankPage {
  readonly content: string;
  readonly html: string;
}

/**
 * Finds the page in an answer to Init3d. docs/interface.md does not show its field: without a `contentField`, the page
 * is the only text in the answer that is Base64 of HTML.
 */
export function findBankPage(fields: ReplyFields, contentField: string | undefined): BankPage | null {
  const candidates = contentField === undefined ? [...fields.texts()] : [fields.text(contentField) ?? ''];
  const pages = candidates.flatMap((content) => {
    const html = decodeBankPage(content);
    return html === null ? [] : [{ content, html }];
  });
  return pages.length === 1 ? (pages[0] ?? null) : null;
}

/** Line breaks are allowed. Encoding again is faster than a pattern, and saves a quarter of an Init3d with 64 KiB. */
function isBase64(text: string, bytes: Buffer): boolean {
  return bytes.toString('base64') === text ? text !== '' : BASE64.test(text.replace(/\s/g, ''));
}
