import { isLoopback } from '../../payment/loopback.js';
import type { PaymentReason } from '../../payment/payment.js';
import type { DialectOperation, GatewayResult, HostedResult } from '../gateway-dialect.js';
import type { Answer } from '../transport/transmission.js';
import { decodeBankPage, isHtml } from './bank-page.js';
import { type Question, readAnswer } from './facts.js';
import { judge, OPENING } from './verdicts.js';

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

/** The outcome of a request for the gateway's own page that may have been sent. */
export type HostedOutcome =
  | { readonly page: HostedPage }
  | { readonly page: null; readonly reason: PaymentReason; readonly result: GatewayResult | null };

/** Which page is wanted, and of which address it may be. */
export interface HostedRules {
  readonly form: HostedForm;
  /** Whether the gateway itself is on this machine, as a simulator is: then so may be its page, without TLS. */
  readonly isLocal: boolean;
  /** The merchant's own URLs in the request, which an answer may repeat: they lead to no page. */
  readonly own: readonly string[];
}

/** UTF-8 bytes of the page's address, which is kept until the payment is settled. */
const MAX_URL_BYTES = 2_048;
const MAX_FORM_CHARACTERS = 262_144;

/** Decides whether there is a page for the buyer. If not, no money can move, since nobody has seen one. */
export function hostedOutcome(
  answer: Answer,
  operation: DialectOperation<never, HostedResult>,
  question: Question,
  rules: HostedRules,
): HostedOutcome {
  const { facts, result } = readAnswer(answer, operation, question);
  const reason = judge(OPENING, facts);
  if (reason) return { page: null, reason, result: reason === 'conversation_mismatch' ? null : result };
  const page = result && pageIn(result, rules);
  return page ? { page } : { page: null, reason: 'unreadable', result };
}

function pageIn({ redirectUrl, form, endsAt }: HostedResult, rules: HostedRules): HostedPage | null {
  const page = { redirectUrl: null, html: null, endsAt: dateOf(endsAt) };
  if (rules.form === 'page') {
    const isPage = isPageUrl(redirectUrl, rules) && !rules.own.some((own) => redirectUrl.startsWith(own));
    return isPage ? { ...page, redirectUrl } : null;
  }
  const html = htmlOf(form);
  return html === null ? null : { ...page, html };
}

/** The buyer's browser is sent there, to any host, but never without TLS. */
export function isPageUrl(url: unknown, { isLocal }: Pick<HostedRules, 'isLocal'>): url is string {
  if (typeof url !== 'string' || Buffer.byteLength(url) > MAX_URL_BYTES || !/^https?:\/\//i.test(url)) return false;
  // Nor quotes and brackets, which a page that shows the address carelessly would run.
  if (/[\s\p{C}\\"'<>`]/u.test(url) || !URL.canParse(url)) return false;
  const { protocol, hostname, username, password } = new URL(url);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (isLocal && isLoopback(hostname));
}

/** HTML as it is, or as Base64 (unverified: public sources show only the field's name). */
function htmlOf(form: unknown): string | null {
  if (typeof form !== 'string' || form.length > MAX_FORM_CHARACTERS) return null;
  return decodeBankPage(form) ?? (isHtml(form) ? form : null);
}

/** Only a time with its offset from UTC is believed. */
function dateOf(text: unknown): Date | null {
  if (typeof text !== 'string' || !/^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)$/.test(text)) return null;
  const date = new Date(text.replace(/([+-]\d\d)(\d\d)$/, '$1:$2'));
  return Number.isNaN(date.getTime()) ? null : date;
}
