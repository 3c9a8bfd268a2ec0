import { explainCode, type Payment, type Refund } from 'nestjs-card-payment';
import { type Html, html } from '../html.js';
import { displayKurus, displayMoney, kurusOf } from '../money.js';
import type { MoneyBack } from '../orders/money-back.js';
import type { Order, ReceivedEvent } from '../orders/order.js';
import {
  EVENT_WORDS,
  REASON_WORDS,
  REFUND_KIND_WORDS,
  REFUND_STATE_WORDS,
  STATE_WORDS,
} from '../texts/payment-words.js';
import { TEXTS } from '../texts/texts.js';
import type { Language } from '../visitor/language.js';
import { displayDate } from './display-date.js';

/** What the admin pages show of an order. */
export interface AdminEntry {
  readonly order: Order;
  /** Oldest first. */
  readonly payments: readonly MoneyBack[];
  readonly events: readonly ReceivedEvent[];
}

/** The first lines of an order: its status, its total, what is in it. */
export function orderHead({ order }: AdminEntry, title: Html, language: Language): Html {
  const { admin, refunds } = TEXTS[language];
  const items = order.lines.map(({ quantity, name }) => `${quantity} × ${name[language]}`).join(', ');
  return html`<header>
      ${title}
      <span class="chip ${order.status}">${admin.statuses[order.status]}</span>
      ${order.invoiceNumber && html`<span class="hint">${admin.invoice} ${order.invoiceNumber}</span>`}
      <time datetime="${order.placedAt.toISOString()}">${displayDate(order.placedAt, language)}</time>
      <strong class="price">${displayKurus(order.totalKurus, language)}</strong>
    </header>
    <p class="hint">
      ${items}${order.refundedKurus > 0 && html` · ${refunds.refunded}: ${displayKurus(order.refundedKurus, language)}`}
    </p>`;
}

/** One line for a payment. */
export function paymentLine(payment: Payment, language: Language, actions: Html | null): Html {
  const { admin, order } = TEXTS[language];
  const { conversationId, state, kind, reason, installmentCount, maskedCardNumber, authCode } = payment;
  return html`<li data-state="${state}">
    <span class="chip ${state}">${STATE_WORDS[language][state]}</span>
    <code>${conversationId}</code>
    <span>${admin.kinds[kind]}</span>
    <span>${displayMoney(payment.amount, language)}${installmentCount > 1 && html` × ${installmentCount}`}</span>
    <span>${maskedCardNumber}</span>
    ${reason && html`<span>${REASON_WORDS[language][reason]}</span>`} ${codeText(payment, language)}
    ${authCode && html`<span>${order.authCode} ${authCode}</span>`} ${actions}
  </li>`;
}

/** One line for a refund or void. */
export function refundLine(refund: Refund, { totals }: MoneyBack, language: Language, actions: Html | null): Html {
  const { refunds } = TEXTS[language];
  const { refundId, kind, state, reason, amount, note, by, createdAt, finalizedAt } = refund;
  const isPart = kind === 'refund' && kurusOf(amount) < kurusOf(totals.taken);
  const at = finalizedAt ?? createdAt;
  return html`<li data-refund="${refundId}" data-refund-state="${state}">
    <span class="chip ${state}">${REFUND_STATE_WORDS[language][state]}</span>
    <strong>${REFUND_KIND_WORDS[language][isPart ? 'partial' : kind]}</strong>
    <span>${displayMoney(amount, language)}</span>
    <time datetime="${at.toISOString()}">${displayDate(at, language)}</time>
    ${by !== null && html`<span>${refunds.by(by)}</span>`}
    ${reason && html`<span>${REASON_WORDS[language][reason]}</span>`}
    ${state !== 'succeeded' && codeText(refund, language)}
    <code>${refundId}</code>
    ${note !== null && html`<q class="note">${note}</q>`} ${actions}
  </li>`;
}

function codeText({ code }: Pick<Payment, 'code'>, language: Language): Html | null {
  return code === null ? null : html`<span>${code} ${explainCode(code, language).whatHappened}</span>`;
}

/** The gateway can be asked about an unknown payment or refund. Staff can settle it, or one in review, by its records. */
export function settlingActions(
  { id, state, path }: { readonly id: string; readonly state: string; readonly path: string },
  words: { readonly succeeded: string; readonly failed: string },
  language: Language,
  hidden: Html | null = null,
): Html | null {
  const { admin } = TEXTS[language];
  if (state !== 'unknown' && state !== 'review') return null;
  const which = html`<span class="unseen">: ${id}</span>`;
  return html`<span class="actions">
    ${
      state === 'unknown' &&
      html`<form method="post" action="${path}/inquire">
        ${hidden}
        <button>${admin.inquire}${which}</button>
      </form>`
    }
    <form method="post" action="${path}/resolve">
      ${hidden}
      <button name="state" value="succeeded">${words.succeeded}${which}</button>
      <button name="state" value="failed">${words.failed}${which}</button>
    </form>
  </span>`;
}

/** @param orderId the order whose page the form is on; null for the list */
export function paymentActions(
  { conversationId, state }: Payment,
  language: Language,
  orderId: string | null,
): Html | null {
  const { admin } = TEXTS[language];
  const words = { succeeded: admin.resolvePaid, failed: admin.resolveFailed };
  const hidden = orderId === null ? null : html`<input type="hidden" name="order" value="${orderId}" />`;
  const path = `/admin/payments/${conversationId}`;
  return settlingActions({ id: conversationId, state, path }, words, language, hidden);
}

/** The events of an order, which can be folded away. */
export function eventList({ events }: AdminEntry, isUnfolded: boolean, language: Language): Html {
  const { admin } = TEXTS[language];
  return html`<details ${isUnfolded && html`open`}>
    <summary>${admin.events} (${events.length})</summary>
    ${
      events.length === 0
        ? html`<p class="hint">${admin.noEvents}</p>`
        : html`<ol class="events">
            ${events.map(
              ({ via, type, reason, eventId, receivedAt }) =>
                html`<li>
                  <time datetime="${receivedAt.toISOString()}">${displayDate(receivedAt, language)}</time>
                  <code class="via">${via}</code> <strong>${EVENT_WORDS[language](type)}</strong>
                  ${reason && html`<span>${REASON_WORDS[language][reason]}</span>`}
                  <code>${eventId}</code>
                </li>`,
            )}
          </ol>`
    }
  </details>`;
}
