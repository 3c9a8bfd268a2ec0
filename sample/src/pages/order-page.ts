import type { Payment, Refund } from 'nestjs-card-payment';
import { type Html, html } from '../html.js';
import { displayMoney } from '../money.js';
import { isOpen } from '../orders/money-back.js';
import type { Order } from '../orders/order.js';
import { type AtPage, isAtPage, isPayable, type Outcome } from '../orders/outcome.js';
import { reasonText } from '../texts/reason-text.js';
import { TEXTS } from '../texts/texts.js';
import type { Language } from '../visitor/language.js';
import type { Visitor } from '../visitor/visitor.js';
import { layout } from './layout.js';
import { orderLines } from './order-lines.js';
import { displayDate } from './display-date.js';

const LOOK: Readonly<Record<Outcome['kind'], 'good' | 'bad' | 'wait'>> = {
  paid: 'good',
  refunded: 'good',
  pending: 'wait',
  checking: 'wait',
  atBank: 'wait',
  atPage: 'wait',
  declinedAtPage: 'bad',
  failed: 'bad',
  expired: 'bad',
  unpaid: 'wait',
};

/** After how many seconds the page asks again while the outcome is open. */
const LOOK_AGAIN: Partial<Record<Outcome['kind'], number>> = {
  pending: 3,
  atBank: 5,
  atPage: 5,
  declinedAtPage: 5,
  checking: 30,
};

export interface OrderPageDetails {
  /** Of all payments of the order. */
  readonly refunds?: readonly Refund[];
  /** Whether the buyer has just tried to give the payment page up, and the gateway did not say that nothing was paid. */
  readonly isPageKept?: boolean;
}

export function orderPage(
  order: Order,
  outcome: Outcome,
  visitor: Visitor,
  { refunds = [], isPageKept = false }: OrderPageDetails = {},
): string {
  const { language } = visitor;
  const texts = TEXTS[language];
  const { title, text } = texts.order[outcome.kind];
  const lookAgain = LOOK_AGAIN[outcome.kind];
  const body = html`<p class="crumb">${texts.order.title} ${order.id}</p>
    <section
      class="outcome ${LOOK[outcome.kind]}"
      role="status"
      data-outcome="${outcome.kind}"
      ${lookAgain && html`data-look-again="${lookAgain}"`}
    >
      ${sign(LOOK[outcome.kind])}
      <div>
        <h1>${title}</h1>
        ${
          (outcome.kind === 'failed' || outcome.kind === 'declinedAtPage') &&
          html`<p class="reason">${reasonText(outcome.payment, language)}</p>`
        }
        <p>${isPageKept && isAtPage(outcome) ? texts.order.pageKept : text}</p>
        ${isAtPage(outcome) && pageActions(order, outcome, language)}
        ${
          isPayable(outcome) &&
          html`<p>
            <a class="button primary" href="/orders/${order.id}/pay"
              >${outcome.kind === 'unpaid' ? texts.order.pay : texts.order.again}</a
            >
          </p>`
        }
        ${
          lookAgain &&
          !isAtPage(outcome) &&
          html`<p><a class="button" href="/orders/${order.id}">${texts.order.lookAgain}</a></p>`
        }
      </div>
    </section>
    <div class="split" data-details>
      <div>
        <section class="panel">
          <h2>${texts.order.summary}</h2>
          ${orderLines(order, language)}
        </section>
        ${givenBack(refunds, language)}
      </div>
      ${
        outcome.kind !== 'unpaid' &&
        html`<section class="panel">
          <h2>${texts.order.payment}</h2>
          ${details(outcome.payment, language)}
        </section>`
      }
    </div>`;
  const script = lookAgain === undefined ? undefined : '/assets/order.js';
  return layout({ title: `${title} · ${texts.order.title} ${order.id}`, body, visitor, script });
}

/** What a buyer can do while the payment page is open. */
function pageActions({ id }: Order, { kind }: AtPage, language: Language): Html {
  const { order } = TEXTS[language];
  const path = `/orders/${id}/payment-page`;
  return html`<form class="buttons" method="post" action="${path}">
    <button class="primary">${kind === 'atPage' ? order.continueAtPage : order.otherCard}</button>
    <button formaction="${path}/leave">${order.otherWay}</button>
    <a class="button" href="/orders/${id}">${order.lookAgain}</a>
  </form>`;
}

function details(payment: Payment, language: Language): Html {
  const { order } = TEXTS[language];
  const rows: [string, string | null][] = [
    [order.amount, displayMoney(payment.amount, language)],
    [order.charged, payment.chargedAmount && chargedText(payment.chargedAmount, payment, language)],
    // At the gateway's own page the buyer chooses them; the shop is not told.
    [order.instalments, payment.kind === 'hosted' ? null : order.instalmentsText(payment.installmentCount)],
    [order.card, payment.maskedCardNumber],
    // Other codes are for the merchant only: one of them says that the card was reported stolen.
    [order.code, payment.state === 'succeeded' ? payment.code : null],
    [order.authCode, payment.authCode],
    [order.bankReference, payment.bankUniqueReferenceNumber],
    [order.paymentId, payment.paymentId],
    [order.date, displayDate(payment.transactionAt ?? payment.updatedAt, language)],
  ];
  return html`<dl class="details">
    ${rows.map(
      ([name, value]) =>
        value !== null &&
        html`<dt>${name}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`;
}

/** Notes and names are for the shop only, and so is a refund that failed. */
function givenBack(refunds: readonly Refund[], language: Language): Html | null {
  const { order } = TEXTS[language];
  const done = refunds.filter(({ state }) => state === 'succeeded');
  const isUnderWay = refunds.some(isOpen);
  if (done.length === 0 && !isUnderWay) return null;
  const name = ({ kind, transactionAt, finalizedAt, updatedAt }: Refund): string =>
    (kind === 'void' ? order.voidOf : order.refundOf)(displayDate(transactionAt ?? finalizedAt ?? updatedAt, language));
  return html`<section class="panel" data-refunds>
    <h2>${order.refunds}</h2>
    ${
      done.length > 0 &&
      html`<dl class="details">
          ${done.map(
            (refund) =>
              html`<dt>${name(refund)}</dt>
                <dd>${displayMoney(refund.amount, language)}</dd>`,
          )}
        </dl>
        <p class="hint">${order.refundHint}</p>`
    }
    ${isUnderWay && html`<p data-refund-under-way>${order.refundUnderWay}</p>`}
  </section>`;
}

/** The gateway's text as received, unless it is a plain decimal. */
function chargedText(charged: string, { amount }: Payment, language: Language): string | null {
  const text = /^\d{1,15}(\.\d+)?$/.test(charged) ? displayMoney(charged, language) : charged;
  return text === displayMoney(amount, language) ? null : text;
}

function sign(look: 'good' | 'bad' | 'wait'): Html {
  const stroke = {
    good: html`<path d="M14 25l7 7 14-16" />`,
    bad: html`<path d="M17 17l14 14M31 17L17 31" />`,
    wait: html`<path d="M24 13v11l7 5" />`,
  }[look];
  return html`<svg viewBox="0 0 48 48" width="56" height="56" aria-hidden="true">
    <circle cx="24" cy="24" r="21" />
    ${stroke}
  </svg>`;
}
