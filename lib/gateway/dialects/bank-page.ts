import type { ReplyFields } from '../readings/reply-fields.js';

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const HTML_TAG = /<\s*(?:!doctype|html|head|body|form|script|iframe|div|meta|input)\b/i;

/** The page's HTML when the text is Base64 of UTF-8 HTML, otherwise null. */
export function decodeBankPage(content: string): string | null {
  if (!BASE64.test(content.replace(/\s/g, ''))) return null;
  try {
    const html = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(content, 'base64'));
    return HTML_TAG.test(html) ? html : null;
  } catch {
    return null;
  }
}

/**
 * Finds the page in an Init3d answer. The interface says only that there is one; so without a `contentField` it is the
 * one text in the answer that is Base64 of HTML.
 */
export function findBankPage(fields: ReplyFields, contentField: string | undefined): string | null {
  if (contentField !== undefined) {
    const content = fields.text(contentField);
    return content !== null && decodeBankPage(content) !== null ? content : null;
  }
  const pages = [...fields.texts()].filter((text) => decodeBankPage(text) !== null);
  return pages.length === 1 ? (pages[0] ?? null) : null;
}
