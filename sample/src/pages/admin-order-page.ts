import type { Refund } from 'nestjs-card-payment';
import { emptyRefund, type RefundAction, type RefundValues, type RefusedForm } from '../admin/refund-form.js';
import { type Html, html } from '../html.js';
import { displayMoney } from '../money.js';
import { isLeft, isOpen, isTaken, type MoneyBack } from '../orders/money-back.js';
import { TEXTS } from '../texts/texts.js';
import type { Language } from '../visitor/language.js';
import type { Visitor } from '../visitor/visitor.js';
import {
  type AdminEntry,
  eventList,
  orderHead,
  paymentActions,
  paymentLine,
  refundLine,
  settlingActions,
} from './admin-entry.js';
import { layout } from './layout.js';

/** What has just happened on the page of an order. */
export interface OrderPageState {
  /** The refund that was made or changed. */
  readonly refundId?: string | null;
  /** A form that was refused. */
  readonly refused?: RefusedForm;
  /** Why a refund was not settled. */
  readonly unchanged?: string;
}

/** Of a form: what it does, with which values, and what is wrong with them. */
interface FormParts {
  readonly action: RefundAction;
  readonly id: string;
  readonly values: RefundValues;
  readonly problem: RefusedForm['problem'] | null;
  readonly language: Language;
}

const LOOK_AGAIN_SECONDS = 2;
const LOOK = { refunding: 'wait', succeeded: 'good', failed: 'bad', unknown: 'wait', review: 'wait' } as const;

/** The merchant's page of one order, where money is given back. */
export function adminOrderPage(
  entry: AdminEntry,
  visitor: Visitor,
  state: OrderPageState & { readonly isSimulated: boolean },
): string {
  const { order, payments } = entry;
  const { language } = visitor;
  const { admin, order: orderTexts, refunds: texts } = TEXTS[language];
  const done = payments.flatMap(({ refunds }) => refunds).find(({ refundId }) => refundId === state.refundId);
  const isWaiting = done?.state === 'refunding';
  const body = html`<p class="crumb"><a href="/admin">${admin.back}</a></p>
    ${done && outcome(done, language)}
    ${state.unchanged !== undefined && problemNotice(texts.unchangedTitle, state.unchanged, 'unchanged')}
    <div data-details>
      <article class="panel order" data-order="${order.id}" data-status="${order.status}">
        ${orderHead(entry, html`<h1><a href="/orders/${order.id}">${order.id}</a></h1>`, language)}
        <h2>${admin.payments}</h2>
        ${payments.length === 0 && html`<p class="hint">${admin.noPayments}</p>`}
        <ul class="attempts">
          ${payments.map(({ payment }) => paymentLine(payment, language, paymentActions(payment, language, order.id)))}
        </ul>
        ${eventList(entry, false, language)}
      </article>
      ${payments
        .filter(
          (each) =>
            isTaken(each) || each.refunds.length > 0 || each.payment.conversationId === state.refused?.conversationId,
        )
        .map((each) => moneyBackPanel(each, state, language))}
    </div>`;
  const title = `${texts.title} · ${orderTexts.title} ${order.id}`;
  const isWrong = state.refused !== undefined || state.unchanged !== undefined;
  return layout({
    title: isWrong ? `${state.refused ? texts.problemTitle : texts.unchangedTitle} · ${title}` : title,
    body,
    visitor,
    ...(isWaiting && { script: '/assets/order.js' }),
  });
}

/** What came of a refund. `autofocus` works without scripts, too, so that screen readers read this first. */
function outcome({ refundId, state, amount, settled }: Refund, language: Language): Html {
  const { refunds: texts } = TEXTS[language];
  return html`<div
    class="notice ${LOOK[state]}"
    role="status"
    tabindex="-1"
    autofocus
    data-outcome="${state}"
    ${state === 'refunding' && html`data-look-again="${LOOK_AGAIN_SECONDS}"`}
  >
    <p>${texts.done[state](displayMoney(amount, language))}</p>
    ${!settled && html`<p><a href="?refund=${refundId}">${texts.lookAgain}</a></p>`}
  </div>`;
}

function problemNotice(title: string, text: string, id: string): Html {
  return html`<div class="notice bad" tabindex="-1" autofocus aria-labelledby="${id}-title">
    <div role="alert">
      <p id="${id}-title"><strong>${title}</strong></p>
      <p>${text}</p>
    </div>
  </div>`;
}

/** What was taken of a payment, what was given back, and the forms. */
function moneyBackPanel(
  moneyBack: MoneyBack,
  { refused, isSimulated }: OrderPageState & { readonly isSimulated: boolean },
  language: Language,
): Html {
  const { payment, totals, refunds } = moneyBack;
  const { refunds: texts } = TEXTS[language];
  const { conversationId } = payment;
  const own = refused?.conversationId === conversationId ? refused : null;
  return html`<section class="panel order" data-payment="${conversationId}" aria-labelledby="back-${conversationId}">
    <h2 id="back-${conversationId}">${texts.title} <code>${conversationId}</code></h2>
    <dl class="totals">
      ${(['taken', 'refunded', 'open', 'refundable'] as const).map(
        (name) =>
          html`<div data-total="${name}">
            <dt>${texts[name]}</dt>
            <dd>${displayMoney(totals[name], language)}</dd>
          </div>`,
      )}
    </dl>
    ${refunds.length === 0 && html`<p class="hint">${texts.none}</p>`}
    ${
      refunds.length > 0 &&
      html`<ul class="attempts">
        ${refunds.map((refund) => refundLine(refund, moneyBack, language, refundActions(refund, language)))}
      </ul>`
    }
    ${payment.state === 'review' && isLeft(moneyBack) && html`<p class="hint">${texts.inReview}</p>`}
    ${own && problemNotice(texts.problemTitle, own.problem.text, `problem-${conversationId}`)}
    ${forms(moneyBack, own, language)}
    ${isSimulated && isLeft(moneyBack) && !refunds.some(isOpen) && html`<p class="hint">${texts.simulatorHint}</p>`}
  </section>`;
}

function refundActions({ refundId, conversationId, state }: Refund, language: Language): Html | null {
  const { refunds: texts } = TEXTS[language];
  const words = { succeeded: texts.resolveGiven, failed: texts.resolveNotGiven };
  const path = `/admin/payments/${conversationId}/refunds/${refundId}`;
  const actions = settlingActions({ id: refundId, state, path }, words, language);
  return (
    actions &&
    html`<p class="unclear">${state === 'review' ? texts.inReviewRefund : texts.unclear}</p>
      ${actions}`
  );
}

/** Those that can be used now, and the one that was refused, since what was typed into it must not be lost. */
function forms(moneyBack: MoneyBack, refused: RefusedForm | null, language: Language): Html {
  const { payment, totals, refunds } = moneyBack;
  const { refunds: texts } = TEXTS[language];
  // All forms of a payment have one key: what is sent from one showing of the page gives back once.
  const fresh = emptyRefund();
  const parts = (action: RefundAction): FormParts => ({
    action,
    id: payment.conversationId,
    values: refused?.action === action ? refused.values : { ...fresh, ...(refused && keyOf(refused.values)) },
    problem: refused?.action === action ? refused.problem : null,
    language,
  });
  const open = refunds.find(isOpen);
  const isUsable = isLeft(moneyBack) && !open;
  const isShown: Readonly<Record<RefundAction, boolean>> = {
    refund: isUsable,
    void: isUsable && Number(totals.refunded) === 0,
    record: isUsable,
    ...(refused && { [refused.action]: true }),
  };
  const lookAgain = open && `/admin/orders/${payment.reference ?? ''}?refund=${open.refundId}`;
  return html`${lookAgain && html`<p data-waits>${texts.waits} <a href="${lookAgain}">${texts.lookAgain}</a></p>`}
  ${!open && !isLeft(moneyBack) && html`<p data-nothing-left>${texts.nothingLeft}</p>`}
  ${isShown.refund && refundForm(parts('refund'), totals.refundable)}
  ${isShown.void && voidForm(parts('void'), totals.taken)}
  ${isShown.record && recordForm(parts('record'), totals.refundable)}`;
}

function keyOf({ idempotencyKey }: RefundValues): Pick<RefundValues, 'idempotencyKey'> {
  return { idempotencyKey };
}

function refundForm(parts: FormParts, left: string): Html {
  const { language } = parts;
  const { refunds: texts } = TEXTS[language];
  const shown = displayMoney(left, language);
  return form(
    parts,
    html`<h3>${texts.formTitle}</h3>
      <div class="pair">${amountField(parts, shown)} ${noteField(parts)}</div>
      <p class="buttons">
        <button class="primary">${texts.refund}</button>
        ${Number(left) > 0 && html`<button name="all" value="${left}" formnovalidate>${texts.refundAll(shown)}</button>`}
      </p>`,
  );
}

function voidForm(parts: FormParts, taken: string): Html {
  const { language } = parts;
  const { refunds: texts } = TEXTS[language];
  return html`<details ${parts.problem && html`open`}>
    <summary>${texts.voidTitle}</summary>
    ${form(
      parts,
      html`<p>${texts.voidText(displayMoney(taken, language))}</p>
        ${noteField(parts)}
        <p class="buttons"><button>${texts.void}</button></p>`,
    )}
  </details>`;
}

function recordForm(parts: FormParts, left: string): Html {
  const { language } = parts;
  const { refunds: texts } = TEXTS[language];
  return html`<details ${parts.problem && html`open`}>
    <summary>${texts.recordTitle}</summary>
    ${form(
      parts,
      html`<p>${texts.recordText}</p>
        <div class="pair">${amountField(parts, displayMoney(left, language))} ${noteField(parts)}</div>
        <p class="buttons"><button>${texts.record}</button></p>`,
    )}
  </details>`;
}

/** Without autocomplete, so that a page that is shown again by the Back button does not offer what was already sent. */
function form({ action, id, values }: FormParts, fields: Html): Html {
  return html`<form class="give-back" method="post" action="/admin/payments/${id}/${action}" autocomplete="off">
    <input type="hidden" name="idempotencyKey" value="${values.idempotencyKey}" />
    ${fields}
  </form>`;
}

function amountField(parts: FormParts, left: string): Html {
  const { refunds: texts } = TEXTS[parts.language];
  const attributes = html`inputmode="decimal" maxlength="24" required value="${parts.values.amount}"`;
  return field(parts, 'amount', texts.amount, texts.amountHint(left), attributes);
}

function noteField(parts: FormParts): Html {
  const { refunds: texts } = TEXTS[parts.language];
  const isRequired = parts.action === 'record';
  const attributes = html`maxlength="500" ${isRequired && html`required`} value="${parts.values.note}"`;
  return field(parts, 'note', texts.note, texts.noteHint, attributes);
}

function field(
  { action, id: paymentId, problem }: FormParts,
  name: 'amount' | 'note',
  label: string,
  hint: string,
  attributes: Html,
): Html {
  const id = `${action}-${name}-${paymentId}`;
  const isWrong = problem?.field === name;
  return html`<div class="field">
    <label for="${id}">${label} <span class="hint">${hint}</span></label>
    <input
      id="${id}"
      name="${name}"
      ${attributes}
      ${isWrong && html`aria-invalid="true" aria-describedby="problem-${paymentId}-text"`}
    />
    ${isWrong && html`<p class="problem" id="problem-${paymentId}-text">${problem.text}</p>`}
  </div>`;
}
