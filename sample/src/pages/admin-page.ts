import { type Html, html } from '../html.js';
import { displayKurus } from '../money.js';
import { isTaken, isUnclear } from '../orders/money-back.js';
import { TEXTS } from '../texts/texts.js';
import type { Language } from '../visitor/language.js';
import type { Visitor } from '../visitor/visitor.js';
import { type AdminEntry, eventList, orderHead, paymentActions, paymentLine, refundLine } from './admin-entry.js';
import { layout } from './layout.js';

export function adminPage(entries: readonly AdminEntry[], visitor: Visitor): string {
  const { language } = visitor;
  const { admin } = TEXTS[language];
  const paid = entries.filter(({ order }) => order.status === 'paid');
  const revenue = entries.reduce((sum, entry) => sum + kept(entry), 0);
  const onHold = entries.filter(({ order }) => order.status === 'checking').length;
  const attention = entries.filter(
    ({ order, payments }) => order.status === 'checking' || payments.some(({ refunds }) => refunds.some(isUnclear)),
  ).length;
  const body = html`<h1>${admin.title}</h1>
    <dl class="figures">
      ${figure(admin.paidOrders, paid.length)} ${figure(admin.revenue, displayKurus(revenue, language))}
      ${figure(admin.attention, attention)}
    </dl>
    ${entries.length === 0 && html`<p>${admin.none}</p>`} ${entries.map((entry) => card(entry, language))}`;
  return layout({ title: onHold > 0 ? admin.titleOnHold(onHold) : admin.title, body, visitor });
}

/** What the shop keeps of an order that was paid. */
function kept({ order: { status, totalKurus, refundedKurus } }: AdminEntry): number {
  return status === 'paid' || status === 'refunded' ? Math.max(0, totalKurus - refundedKurus) : 0;
}

function figure(name: string, value: string | number): Html {
  return html`<div class="panel">
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
}

function card(entry: AdminEntry, language: Language): Html {
  const { order, payments } = entry;
  const { admin } = TEXTS[language];
  return html`<article class="panel order" data-order="${order.id}" data-status="${order.status}">
    ${orderHead(entry, html`<h2><a href="/orders/${order.id}">${order.id}</a></h2>`, language)}
    <h3>${admin.payments}</h3>
    ${
      payments.length === 0
        ? html`<p class="hint">${admin.noPayments}</p>`
        : html`<ul class="attempts">
            ${payments.map((each) => [
              paymentLine(each.payment, language, paymentActions(each.payment, language, null)),
              each.refunds.map((refund) => refundLine(refund, each, language, null)),
            ])}
          </ul>`
    }
    ${
      payments.some((each) => isTaken(each) || each.refunds.length > 0) &&
      html`<p class="manage">
        <a href="/admin/orders/${order.id}">${admin.manage}<span class="unseen">: ${order.id}</span></a>
      </p>`
    }
    ${eventList(entry, entry.events.length > 0, language)}
  </article>`;
}
