import { isUtf8 } from 'node:buffer';
import { isLoopback } from '../../runtime/network.js';
import type { HostedResult, Init3dResult } from '../gateway-dialect.js';
import type { ReplyFields } from './reply-fields.js';

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const HTML_TAG = /<\s*(?:!doctype|html|head|body|form|script|iframe|div|meta|input)\b/i;
const UTF8 = new TextDecoder();
/** UTF-8 bytes of the page's address, which is kept until the payment is settled. */
const MAX_URL_BYTES = 2_048;
const MAX_FORM_CHARACTERS = 262_144;

/** The bank's page. `content` is the Base64 as received, `html` the decoded page. */
export interface BankPage {
  readonly content: string;
  readonly html: string;
}

/** Whether the buyer goes to the gateway's own page, or the shop embeds the gateway's form. */
export type HostedForm = 'page' | 'embedded';

/** The gateway's own page for one payment. It lets its holder pay, so it is shown to the buyer alone. */
export interface HostedPage {
  /** Null for an embedded form. */
  readonly redirectUrl: string | null;
  /** Null for a page. */
  readonly html: string | null;
  /** When it ends; null if the gateway does not say. Not checked yet. */
  readonly endsAt: Date | null;
}

/** Which page is wanted, and of which address it may be. */
export interface HostedRules {
  readonly form: HostedForm;
  /** Whether the gateway itself is on this machine, as a simulator is: then so may be its page, without TLS. */
  readonly isLocal: boolean;
  /** The merchant's own URLs in the request, which an answer may repeat: they lead to no page. */
  readonly own: readonly string[];
}

/** The HTML in a text that is Base64 of UTF-8 HTML, perhaps with line breaks; null for any other text. */
function decodeBankPage(content: string): string | null {
  const bytes = Buffer.from(content, 'base64');
  // Encoding again is faster than a pattern, and saves a quarter of an Init3d with 64 KiB.
  if (bytes.toString('base64') !== content && !BASE64.test(content.replace(/\s/g, ''))) return null;
  if (!isUtf8(bytes)) return null;
  const html = UTF8.decode(bytes);
  return HTML_TAG.test(html) ? html : null;
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

/** The bank's page in a result; null if it shows none. A host's own dialect may give anything. */
export function bankPageIn({ content, html }: Init3dResult): BankPage | null {
  if (typeof content !== 'string') return null;
  const page: unknown = html ?? decodeBankPage(content);
  return typeof page === 'string' ? { content, html: page } : null;
}

/** The gateway's page in a result; null if it shows none. A host's own dialect may give anything. */
export function hostedPageIn({ redirectUrl, form, endsAt }: HostedResult, rules: HostedRules): HostedPage | null {
  const page = { redirectUrl: null, html: null, endsAt: dateOf(endsAt) };
  if (rules.form === 'page') {
    return isPageUrl(redirectUrl, rules) ? { ...page, redirectUrl } : null;
  }
  const html = htmlOf(form);
  return html === null ? null : { ...page, html };
}

/** The buyer's browser is sent there, to any host, but never without TLS. */
function isPageUrl(url: unknown, { isLocal, own }: HostedRules): url is string {
  if (typeof url !== 'string' || Buffer.byteLength(url) > MAX_URL_BYTES || !/^https?:\/\//i.test(url)) return false;
  if (own.some((address) => url.startsWith(address))) return false;
  // Nor quotes and brackets, which a page that shows the address carelessly would run.
  if (/[\s\p{C}\\"'<>`]/u.test(url) || !URL.canParse(url)) return false;
  const { protocol, hostname, username, password } = new URL(url);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (isLocal && isLoopback(hostname));
}

/** HTML as it is, or as Base64 (unverified: public sources show only the field's name). */
function htmlOf(form: unknown): string | null {
  if (typeof form !== 'string' || form.length > MAX_FORM_CHARACTERS) return null;
  return decodeBankPage(form) ?? (HTML_TAG.test(form) ? form : null);
}

/** Only a time with its offset from UTC is believed. */
function dateOf(text: unknown): Date | null {
  if (typeof text !== 'string' || !/^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)$/.test(text)) return null;
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? null : date;
}
