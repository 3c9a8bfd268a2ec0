import { explainCode } from '../gateway/result-codes.js';
import type { PaymentDetails, RefundDetails } from '../operations/payment-details.js';
import type { OperationsDelivery, OperationsHistoryEntry } from '../operations/staff.js';
import { isKnown, type Payment } from '../payment/payment.js';
import { isOpenRefund, type Refund } from '../payment/refund.js';
import { type Html, html } from '../runtime/html.js';
import { type ActName, ACTS, type Asked, fingerprintOf, type Given, isByHand, isMadeBy, refundIn } from './acts.js';
import { withoutCard } from './desk-request.js';
import {
  badge,
  fromNow,
  isUndone,
  kindOf,
  linkTo,
  may,
  money,
  notice,
  page,
  paymentLink,
  type Visit,
  when,
} from './layout.js';
import { replayableRow } from './list-pages.js';
import type { TextName } from './texts.js';

/** So many are shown, with their history: a payment may have hundreds. */
const MAX_REFUNDS = 20;

/** A payment with all that its page shows. */
export interface Shown extends PaymentDetails {
  /** Oldest first. */
  readonly history: readonly OperationsHistoryEntry[];
  /** Those that are parked or on their way. */
  readonly deliveries: readonly (OperationsDelivery & { readonly parked: boolean })[];
}

/** @throws PaymentNotFoundError, PaymentStoreError */
export async function lookUp({ operations }: Visit, conversationId: string): Promise<Shown> {
  const details = await operations.details(conversationId);
  const [history, ...deliveries] = await Promise.all([
    operations.history(conversationId, { lastRefunds: MAX_REFUNDS }),
    ...[true, false].map(async (parked) => {
      const found = await operations.deliveries({ conversationId, parked });
      return found.deliveries.map((delivery) => ({ ...delivery, parked }));
    }),
  ]);
  return { ...details, history, deliveries: deliveries.flat() };
}

/** What the page says besides. */
export interface Besides {
  /** What was done. */
  readonly done?: ActName | null;
  /** Why it was not. */
  readonly problem?: TextName;
  /** The form that was refused: it is shown again with what was typed, or with what has changed meanwhile. */
  readonly asked?: Asked;
}

/** A payment, what happened to it, and what can be done with it. */
export function paymentPage(visit: Visit, shown: Shown, { done, problem, asked }: Besides = {}): string {
  const isChanged = problem === 'changed';
  const refused = isChanged ? undefined : asked;
  const { payment, totals } = shown;
  const { say, state } = visit.words;
  const amount = money(visit, payment.amount, payment.currencyCode);
  const isTaken = /[1-9]/.test(totals.taken);
  const body = html`<h1>${amount} ${badge(visit, payment)}</h1>
    <p class="soft">${payment.reference ?? say('noReference')}</p>
    ${problem && notice(`${say(problem)} ${isUndone(problem) ? say('nothingDone') : ''}`, true)}
    ${done && isTold(visit, shown, done) && notice(say('done', say(done), doneState(visit, shown, done)), false)}
    <section>
      <h2>${say('whatToDo')}</h2>
      <p>${adviceOn(visit, shown)}</p>
      ${outlook(visit, shown)} ${codeMeaning(visit, payment)} ${actForms(visit, shown, shown, refused)}
    </section>
    ${
      (isTaken || shown.refunds.length > 0) &&
      html`<section>
        <h2>${say('moneyBack')}</h2>
        <dl>
          ${(['taken', 'refunded', 'open', 'refundable'] as const).map((name) =>
            fact(say(name), money(visit, totals[name], payment.currencyCode)),
          )}
        </dl>
        ${shown.refunds.some(({ refund }) => isOpenRefund(refund)) && html`<p>${say('waitsForRefund')}</p>`}
        ${shown.refunds.length > MAX_REFUNDS && html`<p class="soft">${say('lastRefunds', MAX_REFUNDS, shown.refunds.length)}</p>`}
        ${shownRefunds(shown).map((each) => refundPart(visit, shown, each, refused))}
      </section>`
    }
    <div class="beside">
      <section>
        <h2>${say('timeline')}</h2>
        ${timeline(visit, shown, isChanged && asked ? asked.seen : Infinity)}
      </section>
      <section>
        <h2>${say('facts')}</h2>
        ${facts(visit, payment)}
      </section>
    </div>`;
  return page(visit, `${amount}, ${state('label', 'payment', payment.state)}`, body);
}

/** What is about to be done, to be confirmed. */
export function confirmationPage(visit: Visit, shown: Shown, asked: Asked): string {
  const { payment } = shown;
  const { say } = visit.words;
  const { act, given } = asked;
  const amount = money(visit, amountOf(shown, asked), payment.currencyCode);
  const name = nameOf(asked);
  const what = say(name);
  const body = html`<h1>${say('confirm')}</h1>
    <section>
      <h2>${what}</h2>
      <p>${say(`${name}Help`)}</p>
      <dl>
        ${fact(say('amount'), amount)} ${fact(say('reference'), payment.reference)}
        ${fact(say('conversationId'), payment.conversationId)} ${fact(say('note'), given.note)}
      </dl>
      ${form(visit, shown, 'acts', { act, ...given }, html`<button class="primary">${say('yes', what)}: ${amount}</button>`)}
      <p><a href="${paymentLink(visit, payment.conversationId)}">${say('no')}</a></p>
    </section>`;
  return page(visit, say('confirm'), body);
}

const MAX_LINES = 200;

/** The last ones, and before them those that may have to be settled. */
function shownRefunds({ refunds }: Shown): RefundDetails[] {
  return refunds.filter(({ refund }, index) => index >= refunds.length - MAX_REFUNDS || isOpenRefund(refund));
}

/** Whether it is told that an act was done: an address may say so of any payment. An ask may change nothing. */
function isTold({ staff }: Visit, { refunds, history }: Shown, done: ActName): boolean {
  const { right, fields } = ACTS[done];
  if (right === 'refund') return refunds.some(({ refund }) => isMadeBy(done, refund) && refund.by === staff.name);
  return !fields.includes('state') || history.some((line) => isByHand(line) && line.by === staff.name);
}

type ActTextName = ActName | `${'resolve' | 'resolveRefund'}${'Succeeded' | 'Failed'}`;

function nameOf({ act, given: { state } }: Pick<Asked, 'act' | 'given'>): ActTextName {
  return act === 'resolve' || act === 'resolveRefund' ? `${act}${state === 'failed' ? 'Failed' : 'Succeeded'}` : act;
}

function amountOf(shown: Shown, { act, given }: Asked): string {
  if (act === 'void') return shown.totals.taken;
  return given.amount ?? refundIn(shown, given)?.refund.amount ?? shown.payment.amount;
}

/** The state of what was done: of the payment, or of the refund that changed last. */
function doneState({ words }: Visit, { payment, refunds }: Shown, done: ActName): string {
  const isOfPayment = done === 'inquire' || done === 'abandon' || done === 'resolve';
  const byTime = refunds.toSorted((one, other) => one.refund.updatedAt.getTime() - other.refund.updatedAt.getTime());
  const changed = (isOfPayment ? null : byTime.at(-1)?.refund) ?? payment;
  return words.state('label', kindOf(changed), changed.state);
}

function adviceOn({ words: { say, state } }: Visit, { payment, refunds }: Shown): string {
  if (!isKnown(payment)) return say('newerRelease');
  const isRefundOpen = payment.settled && refunds.some(({ refund }) => isOpenRefund(refund));
  return isRefundOpen ? say('refundFirst') : state('advice', 'payment', payment.state);
}

/** When it is asked about again, and why it may not be. */
function outlook(visit: Visit, { askedAgainAt, isOtherGateways }: Shown | RefundDetails): Html {
  const { say } = visit.words;
  const at = askedAgainAt && askedAgainAt.getTime() > Date.now() ? fromNow(visit, askedAgainAt) : say('soon');
  return html`${isOtherGateways && html`<p>${say('elsewhere')}</p>`}
  ${askedAgainAt && html`<p class="soft">${say('askedAgain', at)}</p>`}`;
}

function codeMeaning({ words: { say, language } }: Visit, of: Payment | Refund): Html | null {
  const { code, state } = of;
  if (code === null) return null;
  const { whatHappened, tellBuyer } = explainCode(code, language);
  return html`<dl>
    ${fact(`${say('meaning')} (${code})`, whatHappened)}
    ${state === 'failed' && !('refundId' in of) && fact(say('tellBuyer'), tellBuyer)}
  </dl>`;
}

/** What can be done with a payment, or with a refund of it, by somebody who may. */
function actForms(visit: Visit, shown: Shown, of: PaymentDetails | RefundDetails, refused: Asked | undefined): Html[] {
  const given: Given = 'refund' in of ? { refundId: of.refund.refundId } : {};
  return (of.acts as readonly ActName[])
    .filter((act) => may(visit, ACTS[act].right))
    .map((act) => {
      const isRefused = refused?.act === act && refused.given.refundId === given.refundId;
      return actForm(visit, shown, act, given, isRefused ? refused.given : null);
    });
}

function refundPart(visit: Visit, shown: Shown, each: RefundDetails, refused: Asked | undefined): Html {
  const { refund } = each;
  const { say, state } = visit.words;
  return html`<div data-refund="${refund.refundId}">
    <p>
      <b>${money(visit, refund.amount, refund.currencyCode)}</b> ${badge(visit, refund)}
      ${say(refund.kind === 'void' ? 'voidKind' : 'refundKind')} <code>${refund.refundId}</code>
      ${refund.by !== null && say('by', refund.by)} ${when(visit, refund.createdAt)}
    </p>
    ${refund.state !== 'succeeded' && codeMeaning(visit, refund)}
    ${!refund.settled && html`<p>${isKnown(refund) ? state('advice', 'refund', refund.state) : say('newerRelease')}</p>`}
    ${outlook(visit, each)} ${actForms(visit, shown, each, refused)}
  </div>`;
}

/**
 * The form of an act. What cannot do harm is done at once; all else is to be confirmed first.
 *
 * @param typed what was typed into it before, if it was refused
 */
function actForm(visit: Visit, shown: Shown, act: ActName, given: Given, typed: Given | null): Html {
  const { say } = visit.words;
  const { right, fields, isNoteOptional = false } = ACTS[act];
  if (right === 'ask') {
    const button = html`<button class="primary">${say(act)}</button> <span class="soft">${say(`${act}Help`)}</span>`;
    return form(visit, shown, 'acts', { act, ...given }, button);
  }
  const { refundable } = shown.totals;
  const left = money(visit, refundable, shown.payment.currencyCode);
  const isWhole = act === 'refund' && /[1-9]/.test(refundable);
  const buttons = fields.includes('state')
    ? (['succeeded', 'failed'] as const).map(
        (state) => html`<button name="state" value="${state}">${say(nameOf({ act, given: { state } }))}…</button>`,
      )
    : html`<button>${say(act === 'refund' ? 'partly' : act === 'recordRefund' ? 'recordIt' : act)}…</button>`;
  const inputs = html`${
    fields.includes('amount') &&
    html`<label>
      ${say('amountLeft', left)}
      <input
        name="amount"
        value="${typed?.amount && withoutCard(typed.amount)}"
        inputmode="decimal"
        maxlength="24"
        required
      />
    </label>`
  }
  ${
    fields.includes('note') &&
    html`<label>
      ${say(isNoteOptional ? 'noteOptional' : 'noteWhy')}
      <input name="note" value="${typed?.note}" maxlength="500" ${!isNoteOptional && html`required`} />
    </label>`
  }
  ${buttons} ${isWhole && html`<button name="all" value="${refundable}" formnovalidate>${say('whole', left)}…</button>`}`;
  return html`<details ${typed && html`open`}>
    <summary>${say(act)}</summary>
    <p>${say(`${act}Help`)}</p>
    ${form(visit, shown, 'review', { act, ...given }, inputs)}
  </details>`;
}

/** Without autocomplete, so that Back does not offer what was already sent. */
function form(
  visit: Visit,
  shown: Shown,
  path: 'review' | 'acts',
  says: Given & Pick<Asked, 'act'>,
  fields: Html,
): Html {
  const { conversationId } = shown.payment;
  const hidden = { ...says, shown: fingerprintOf(shown), seen: shown.history.at(-1)?.at.getTime() ?? 0 };
  return html`<form
    method="post"
    action="${linkTo(visit, `payments/${encodeURIComponent(conversationId)}/${path}`)}"
    autocomplete="off"
  >
    ${Object.entries(hidden).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    ${fields}
  </form>`;
}

/** One line of what happened. */
interface Line {
  readonly at: Date;
  readonly html: Html;
}

function timeline(visit: Visit, shown: Shown, seen: number): Html {
  const lines = [...historyLines(visit, shown.history, seen), ...deliveryLines(visit, shown)];
  lines.sort((one, other) => one.at.getTime() - other.at.getTime());
  const left = lines.slice(-MAX_LINES);
  return html`${lines.length > left.length && html`<p>${visit.words.say('earlier', lines.length - left.length)}</p>`}
    <ol class="story">
      ${left.map((line) => line.html)}
    </ol>`;
}

/** What is told in one line: an entry, and those that say the same of the same record right after it. */
interface Told {
  readonly entry: OperationsHistoryEntry;
  /** What was told of the same record before. */
  readonly before: OperationsHistoryEntry | undefined;
  last: OperationsHistoryEntry;
  repeated: number;
}

function historyLines(visit: Visit, history: readonly OperationsHistoryEntry[], seen: number): Line[] {
  const told: Told[] = [];
  for (const entry of history) {
    const before = told.findLast((one) => one.entry.refundId === entry.refundId);
    const isSame = before?.entry.state === entry.state && before.entry.reason === entry.reason;
    // A refund that was about to be sent held its payment in review: that is an entry, and nothing happened.
    if (isSame && entry.refundId === null && entry.state === 'review') continue;
    if (isSame && before === told.at(-1) && entry.by === null) {
      before.last = entry;
      before.repeated += 1;
    } else {
      told.push({ entry, before: before?.entry, last: entry, repeated: 0 });
    }
  }
  return told.map((one) => ({ at: one.entry.at, html: historyLine(visit, one, seen) }));
}

function historyLine(visit: Visit, { entry, before, last, repeated }: Told, seen: number): Html {
  const { say, state, reason } = visit.words;
  const { refundId, by, note } = entry;
  // A refund keeps who asked for it, and why, in all of its lines.
  const isTold = refundId !== null && !isByHand(entry) && before?.by === by;
  const isNew = last.at.getTime() > seen;
  return html`<li class="${isNew && 'new'}">
    <p>
      <b>${state('story', refundId === null ? 'payment' : 'refund', entry.state)}</b
      >${entry.reason !== null && `: ${reason(entry.reason)}`} ${by !== null && !isTold && say('by', by)}
      ${isNew && html`<b class="state">${say('isNew')}</b>`}
    </p>
    ${note !== null && note !== before?.note && html`<p>“${note}”</p>`}
    <p>${when(visit, entry.at)} ${refundId !== null && html`<span class="soft">${say('ofRefund', refundId)}</span>`}</p>
    ${repeated > 0 && html`<p class="soft">${say('repeated', repeated, fromNow(visit, last.at))}</p>`}
  </li>`;
}

function deliveryLines(visit: Visit, { deliveries }: Shown): Line[] {
  const { say } = visit.words;
  return deliveries.map((delivery) => ({
    at: delivery.at,
    html: delivery.parked
      ? html`<li>
          <p><b>${say('notHandled', delivery.handlerId)}</b></p>
          <ul>
            ${replayableRow(visit, delivery)}
          </ul>
        </li>`
      : html`<li>
          <p>${say('onItsWay', delivery.handlerId)} <code>${delivery.type}</code></p>
          ${delivery.error !== null && html`<p class="soft">${delivery.error}</p>`} ${when(visit, delivery.at)}
        </li>`,
  }));
}

function facts(visit: Visit, payment: Payment): Html {
  const { say } = visit.words;
  const { chargedAmount, currencyCode, createdAt, kind, maskedCardNumber, state, reason } = payment;
  const ids = ['conversationId', 'reference', 'code', 'message', 'authCode', 'orderId', 'paymentId'] as const;
  return html`<dl>
    ${fact(say('state'), html`<code>${state}</code>`)}
    ${fact(say('kind'), Object.hasOwn(KINDS, kind) ? say(kind) : kind)}
    ${ids.map((name) => fact(say(name), payment[name]))}
    ${fact(say('bankUniqueReferenceNumber'), payment.bankUniqueReferenceNumber)}
    ${fact(say('reason'), reason && visit.words.reason(reason))}
    ${fact(say('chargedAmount'), chargedAmount && money(visit, chargedAmount, currencyCode))}
    ${fact(say('installmentCount'), payment.installmentCount > 1 ? String(payment.installmentCount) : null)}
    ${fact(say('card'), maskedCardNumber)} ${fact(say('createdAt'), when(visit, createdAt))}
  </dl>`;
}

const KINDS = { direct: true, '3d': true, hosted: true };

function fact(name: string, value: string | Html | null | undefined): Html | null {
  if (value === null || value === undefined) return null;
  return html`<dt>${name}</dt>
    <dd>${value}</dd>`;
}
