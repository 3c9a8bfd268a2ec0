import { explainCode, type Payment } from 'nestjs-card-payment';
import { type Html, html } from '../html.js';
import { displayKurus, displayMoney } from '../money.js';
import type { Order, ReceivedEvent } from '../orders/order.js';
import { EVENT_WORDS, REASON_WORDS, STATE_WORDS } from '../texts/payment-words.js';
import { TEXTS } from '../texts/texts.js';
import type { Language } from '../visitor/language.js';
import type { Visitor } from '../visitor/visitor.js';
import { displayDate } from './display-date.js';
import { layout } from './layout.js';

export interface AdminEntry {
  readonly order: Order;
  readonly payments: readonly Payment[];
  readonly events: readonly ReceivedEvent[];
}

export function adminPage(entries: readonly AdminEntry[], visitor: Visitor): string {
  const { language } = visitor;
  const { admin } = TEXTS[language];
  const paid = entries.filter(({ order }) => order.status === 'paid');
  const revenue = paid.reduce((sum, { order }) => sum + order.totalKurus, 0);
  const onHold = entries.filter(({ order }) => order.status === 'checking').length;
  const body = html`<h1>${admin.title}</h1>
    <dl class="figures">
      ${figure(admin.paidOrders, paid.length)} ${figure(admin.revenue, displayKurus(revenue, language))}
      ${figure(admin.attention, onHold)}
    </dl>
    ${entries.length === 0 && html`<p>${admin.none}</p>`} ${entries.map((entry) => card(entry, language))}`;
  return layout({ title: onHold > 0 ? admin.titleOnHold(onHold) : admin.title, body, visitor });
}

function figure(name: string, value: string | number): Html {
  return html`<div class="panel">
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
}

function card({ order, payments, events }: AdminEntry, language: Language): Html {
  const { admin } = TEXTS[language];
  const items = order.lines.map(({ quantity, name }) => `${quantity} × ${name[language]}`).join(', ');
  return html`<article class="panel order" data-order="${order.id}" data-status="${order.status}">
    <header>
      <h2><a href="/orders/${order.id}">${order.id}</a></h2>
      <span class="chip ${order.status}">${admin.statuses[order.status]}</span>
      ${order.invoiceNumber && html`<span class="hint">${admin.invoice} ${order.invoiceNumber}</span>`}
      <time datetime="${order.placedAt.toISOString()}">${displayDate(order.placedAt, language)}</time>
      <strong class="price">${displayKurus(order.totalKurus, language)}</strong>
    </header>
    <p class="hint">${items}</p>
    <h3>${admin.payments}</h3>
    ${
      payments.length === 0
        ? html`<p class="hint">${admin.noPayments}</p>`
        : html`<ul class="attempts">
            ${payments.map((payment) => attempt(payment, language))}
          </ul>`
    }
    <details ${events.length > 0 && html`open`}>
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
    </details>
  </article>`;
}

function attempt(payment: Payment, language: Language): Html {
  const { admin, order } = TEXTS[language];
  const { conversationId, state, kind, code, reason, installmentCount, maskedCardNumber, authCode } = payment;
  const codeText = code === null ? null : `${code} ${explainCode(code, language).whatHappened}`;
  return html`<li data-state="${state}">
    <span class="chip ${state}">${STATE_WORDS[language][state]}</span>
    <code>${conversationId}</code>
    <span>${kind === 'direct' ? admin.direct : '3D'}</span>
    <span>${displayMoney(payment.amount, language)}${installmentCount > 1 && html` × ${installmentCount}`}</span>
    <span>${maskedCardNumber}</span>
    ${reason && html`<span>${REASON_WORDS[language][reason]}</span>`} ${codeText && html`<span>${codeText}</span>`}
    ${authCode && html`<span>${order.authCode} ${authCode}</span>`} ${actions(payment, language)}
  </li>`;
}

/**
 * The gateway can be asked about an unknown payment. Staff can settle it, and one in review, by the gateway's records.
 */
function actions({ conversationId, state }: Payment, language: Language): Html | null {
  const { admin } = TEXTS[language];
  if (state !== 'unknown' && state !== 'review') return null;
  const path = `/admin/payments/${conversationId}`;
  const which = html`<span class="unseen">: ${conversationId}</span>`;
  return html`<span class="actions">
    ${
      state === 'unknown' &&
      html`<form method="post" action="${path}/inquire">
        <button>${admin.inquire}${which}</button>
      </form>`
    }
    <form method="post" action="${path}/resolve">
      <button name="state" value="succeeded">${admin.resolvePaid}${which}</button>
      <button name="state" value="failed">${admin.resolveFailed}${which}</button>
    </form>
  </span>`;
}
