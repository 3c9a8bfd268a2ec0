import { createHash } from 'node:crypto';
import type { PaymentOperations } from '../operations/staff.js';
import { DEFAULT_ACCOUNT } from '../payment/account.js';
import { currencyLetters } from '../payment/amount.js';
import type { Payment } from '../payment/payment.js';
import type { Refund } from '../payment/refund.js';
import { isKnownState } from '../payment/states.js';
import { type Html, html } from '../runtime/html.js';
import type { DeskAct, DeskRight, DeskStaff } from './desk-access.js';
import type { Place } from './desk-request.js';
import { STYLE } from './style.js';
import type { TextName, Words } from './texts.js';

/** The page that is asked for, and its reader's language. */
export interface Frame {
  readonly place: Place;
  readonly words: Words;
}

/** A request of somebody who may look. */
export interface Visit extends Frame {
  readonly staff: DeskStaff;
  readonly account: string;
  /** Those that they may see. */
  readonly accounts: readonly string[];
  readonly operations: PaymentOperations;
  /** Has the host record what is about to be done. */
  readonly record: (act: Pick<DeskAct, 'act' | 'conversationId' | 'details'>) => Promise<void>;
  /** Why something could not be done; what should not happen is logged. */
  readonly refusalOf: (error: unknown) => Refusal;
}

/** A request that is answered by a page that says why. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly text: TextName,
    /** Those that may be looked at instead. */
    readonly accounts: readonly string[] = [],
  ) {
    super(text);
  }
}

export function may({ staff }: Visit, right: DeskRight): boolean {
  return staff.rights.includes(right);
}

/** Which style it is, so that a browser does not keep that of another release. */
const STYLE_ID = createHash('sha256').update(STYLE).digest('hex').slice(0, 8);
/** C0 and C1 but for tab and line feed, line separators, and marks that turn text around. */
// eslint-disable-next-line no-control-regex
const UNSHOWN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The address of another page of the same account, relative to this one. */
export function linkTo(
  { place, account }: Pick<Visit, 'place' | 'account'>,
  path: string,
  query: Readonly<Record<string, string>> = {},
): string {
  const fields = new URLSearchParams(account === DEFAULT_ACCOUNT ? query : { ...query, account });
  return `${path === '' ? place.home : place.root + path}${fields.size > 0 ? `?${fields.toString()}` : ''}`;
}

export function paymentLink(
  visit: Visit,
  conversationId: string,
  query: Readonly<Record<string, string>> = {},
): string {
  return linkTo(visit, `payments/${encodeURIComponent(conversationId)}`, query);
}

const PAGES: readonly (readonly [TextName, path: string])[] = [
  ['overview', ''],
  ['payments', 'payments'],
  ['deliveries', 'deliveries'],
];

/** A page for somebody who may look. */
export function page(visit: Visit, title: string, body: Html): string {
  const { words, staff, account, accounts } = visit;
  const { say } = words;
  const current = (isCurrent: boolean) => isCurrent && html`aria-current="true"`;
  const others = accounts.map(
    (name) => html`<a href="${linkTo({ ...visit, account: name }, '')}" ${current(name === account)}>${name}</a>`,
  );
  return framed(
    visit,
    title,
    html`<a class="skip" href="#content">${say('toContent')}</a>
      <header>
        <p class="brand">${say('desk')}</p>
        <nav aria-label="${say('pages')}">
          ${PAGES.map(([name, path]) => html`<a href="${linkTo(visit, path)}">${say(name)}</a>`)}
        </nav>
        ${accounts.length > 1 && html`<nav aria-label="${say('account')}">${others}</nav>`}
      </header>
      <main id="content" tabindex="-1">${body}</main>
      <footer>${say('signedIn', staff.name)}</footer>`,
  );
}

/** What a page says first: what was done, or why it was not. */
export function notice(text: string, isBad: boolean): Html {
  return html`<div class="${isBad ? 'notice bad' : 'notice'}" role="${isBad ? 'alert' : 'status'}">
    <p>${text}</p>
  </div>`;
}

/** Whether nothing was done when there is this problem. */
export function isUndone(problem: TextName): boolean {
  return problem !== 'failedHere' && problem !== 'unsure';
}

/** @param isAct whether something was to be done */
export function refusalPage(frame: Frame, { text, accounts }: Refusal, isAct: boolean): string {
  const { say } = frame.words;
  const { home } = frame.place;
  const body = html`<main>
    <h1>${say(text)}</h1>
    ${isAct && isUndone(text) && html`<p>${say('nothingDone')}</p>`}
    <p><a href="${home}">${say('overview')}</a></p>
    ${accounts.map((name) => html`<p><a href="${home}?account=${encodeURIComponent(name)}">${say('account')}: ${name}</a></p>`)}
  </main>`;
  return framed(frame, say(text), body);
}

/**
 * Its policy for the address of its pages is that they go to this site alone: with none at all, the browsers that do
 * not say of a form that it is this site's own would not say where it comes from, either.
 */
function framed({ place, words: { language, say } }: Frame, title: string, body: Html): string {
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="same-origin" />
        <title>${title} · ${say('desk')}</title>
        <link rel="stylesheet" href="${place.root}desk.css?${STYLE_ID}" />
      </head>
      <body>
        ${body}
      </body>
    </html>`.text.replace(UNSHOWN, '');
}

/** An amount with its currency, as it is written in the reader's language. */
export function money({ words: { language } }: Frame, amount: string, currencyCode: number): string {
  const decimals = amount.split('.')[1]?.length ?? 0;
  const format = new Intl.NumberFormat(language, { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return `${format.format(amount as `${number}`)} ${currencyLetters(currencyCode) ?? currencyCode}`;
}

/** The gateway's time, which its merchants live by. */
const TIME_ZONE = 'Europe/Istanbul';

export function when({ words: { language } }: Frame, at: Date): Html {
  const options = { dateStyle: 'medium', timeStyle: 'medium', timeZone: TIME_ZONE } as const;
  const text = new Intl.DateTimeFormat(language === 'tr' ? 'tr' : 'en-GB', options).format(at);
  return html`<time datetime="${at.toISOString()}">${text}</time>`;
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** How long ago it was, or how soon it will be: `3 hours ago`. */
export function fromNow({ words: { language } }: Frame, at: Date): string {
  const seconds = Math.round((at.getTime() - Date.now()) / 1_000);
  const [unit, size] = UNITS.find((row) => Math.abs(seconds) >= row[1]) ?? UNITS[3];
  return new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(Math.round(seconds / size), unit);
}

/** What the texts of a record's state are found by. */
export function kindOf(record: Payment | Refund): 'payment' | 'refund' {
  return 'refundId' in record ? 'refund' : 'payment';
}

export function badge({ words }: Frame, record: Payment | Refund): Html {
  const { state } = record;
  const look = isKnownState(state) ? state : 'newer';
  return html`<b class="state ${look}" data-state="${state}">${words.state('label', kindOf(record), state)}</b>`;
}
