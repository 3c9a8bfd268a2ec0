import type { OperationsDelivery } from '../operations/staff.js';
import { DEFAULT_ACCOUNT } from '../payment/account.js';
import type { Payment } from '../payment/payment.js';
import type { Refund } from '../payment/refund.js';
import { factsOf, type PaymentState, REFUND_STATES, SALE_STATES, UNSETTLED_REFUND_STATES } from '../payment/states.js';
import { MAX_SETTLED_COUNT, type StateCount } from '../store/payment-store.js';
import { type Html, html } from '../runtime/html.js';
import { type DeskRequest, textIn, withoutCard } from './desk-request.js';
import { badge, fromNow, linkTo, may, money, notice, page, paymentLink, type Visit, when } from './layout.js';
import type { TextName } from './texts.js';

/** What a person has to settle. */
const TO_SETTLE = ['review', 'unknown'] as const;
/** How many the first page shows of each queue. */
const QUEUE_LENGTH = 10;

/** The first page: what waits for somebody, and how many there are of all. */
export async function overviewPage(visit: Visit, { query }: DeskRequest): Promise<string> {
  const { operations } = visit;
  const after = textIn(query, 'after');
  const { say } = visit.words;
  const [counts, { payments }, { refunds, next }, { deliveries }] = await Promise.all([
    operations.counts(),
    operations.list({ state: TO_SETTLE, limit: QUEUE_LENGTH }),
    operations.listRefunds({ state: UNSETTLED_REFUND_STATES, after, limit: QUEUE_LENGTH }),
    operations.deliveries({ limit: QUEUE_LENGTH }),
  ]);
  const all = linkTo(visit, 'payments', { state: TO_SETTLE.join() });
  const isMoreToSettle = TO_SETTLE.reduce((sum, state) => sum + counts.states[state].count, 0) > payments.length;
  const body = html`<h1>${say('overview')}</h1>
    ${searchForm(visit, null, null)}
    <section>
      <h2>${say('toSettle')}</h2>
      ${listOf(visit, payments, recordRow)} ${linkIf(visit, isMoreToSettle, 'all', all)}
    </section>
    <div class="beside">
      <section>
        <h2>${say('openRefunds')}</h2>
        ${listOf(visit, refunds, recordRow)}
        ${linkIf(visit, next !== null, 'next', linkTo(visit, '', { after: next ?? '' }))}
        ${linkIf(visit, after !== null, 'all', linkTo(visit, ''))}
      </section>
      <section>
        <h2>${say('parked')}</h2>
        ${listOf(visit, deliveries, deliveryRow)}
        ${linkIf(visit, counts.deliveries.parked > 0, 'all', linkTo(visit, 'deliveries'))}
        <p class="soft">${say('waitingEvents', counts.deliveries.waiting)}</p>
      </section>
    </div>
    ${counts.otherGateway > 0 && html`<p class="notice bad">${say('otherGateway', counts.otherGateway)}</p>`}
    <section>
      <h2>${say('numbers')}</h2>
      ${countTable(visit, 'payment', counts.states)} ${countTable(visit, 'refund', counts.refunds)}
    </section>`;
  return page(visit, say('overview'), body);
}

/** How many there are in each state, as bars by the power of ten: a few that wait are seen beside thousands. */
function countTable(visit: Visit, of: 'payment' | 'refund', counts: Readonly<Record<string, StateCount>>): Html {
  const { say, state: stateText, language } = visit.words;
  const width = (count: number) => ((Math.log10(1 + count) / Math.log10(1 + MAX_SETTLED_COUNT)) * 100).toFixed(1);
  const states = of === 'payment' ? SALE_STATES : REFUND_STATES;
  const rows = states.map((state) => {
    const { count, oldest } = counts[state]!;
    const number = count.toLocaleString(language) + (count >= MAX_SETTLED_COUNT && factsOf(state).settled ? '+' : '');
    const label = stateText('label', of, state);
    return html`<tr data-count="${of}.${state}">
      <th scope="row">
        ${of === 'payment' ? html`<a href="${linkTo(visit, 'payments', { state })}">${label}</a>` : label}
      </th>
      <td>${number}</td>
      <td>
        <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
          <rect width="${width(Math.min(count, MAX_SETTLED_COUNT))}" height="8" />
        </svg>
      </td>
      <td>${oldest && html`<time datetime="${oldest.toISOString()}">${fromNow(visit, oldest)}</time>`}</td>
    </tr>`;
  });
  return html`<table>
    <thead>
      <tr>
        <th scope="col">${say(of === 'payment' ? 'ofPayments' : 'ofRefunds')}</th>
        <th scope="col">${say('count')}</th>
        <td></td>
        <th scope="col">${say('oldest')}</th>
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

/** Payments, the newest first: of an id or reference (`q`), or in a state, or in several with commas between them. */
export async function paymentsPage(visit: Visit, { query: asked }: DeskRequest): Promise<string> {
  const { operations } = visit;
  const { say } = visit.words;
  const q = textIn(asked, 'q')?.trim() ?? null;
  const [state, after] = [textIn(asked, 'state'), textIn(asked, 'after')];
  const states = state === null ? undefined : (state.split(',') as PaymentState[]);
  const [byId, { payments, next }] = await Promise.all([
    q === null || after !== null ? null : operations.find(q),
    operations.list({ state: states, reference: q ?? undefined, after }),
  ]);
  const named = byId && ('refundId' in byId ? await operations.find(byId.conversationId) : byId);
  const isWanted = named && 'state' in named && (!states || states.includes(named.state as PaymentState));
  const others = payments.filter(({ conversationId }) => conversationId !== named?.conversationId);
  const found = isWanted ? [named as Payment, ...others] : payments;
  // An id or order that there is may have as many digits.
  const shownQ = q !== null && found.length === 0 ? withoutCard(q) : q;
  const query = { ...(q !== null && { q }), ...(state !== null && { state }) };
  const body = html`<h1>${say('payments')}</h1>
    ${searchForm(visit, shownQ, state)}
    <section aria-label="${say('payments')}">
      ${found.length === 0 ? html`<p>${say('noPayments')}</p>` : listOf(visit, found, recordRow)}
      ${linkIf(visit, after !== null, 'first', linkTo(visit, 'payments', query))}
      ${linkIf(visit, next !== null, 'next', linkTo(visit, 'payments', { ...query, after: next ?? '' }))}
    </section>`;
  return page(visit, shownQ === null ? say('payments') : say('found', shownQ), body);
}

function searchForm({ place, account, words }: Visit, q: string | null, state: string | null): Html {
  const { say } = words;
  const option = (value: string, label: string) =>
    html`<option value="${value}" ${value === (state ?? '') && html`selected`}>${label}</option>`;
  return html`<form class="search card" method="get" action="${place.root}payments" role="search">
    ${account !== DEFAULT_ACCOUNT && html`<input type="hidden" name="account" value="${account}" />`}
    <label>${say('searchLabel')} <input name="q" value="${q}" maxlength="255" autocomplete="off" /></label>
    <label>
      ${say('state')}
      <select name="state">
        ${option('', say('anyState'))} ${option(TO_SETTLE.join(), say('toSettle'))}
        ${SALE_STATES.map((one) => option(one, words.state('label', 'payment', one)))}
      </select>
    </label>
    <button class="primary">${say('search')}</button>
  </form>`;
}

/**
 * The events that handlers could not handle.
 *
 * @param problem why one of them was not delivered again
 */
export async function deliveriesPage(visit: Visit, { query }: DeskRequest, problem?: TextName): Promise<string> {
  const { say } = visit.words;
  const after = textIn(query, 'after');
  const isDone = problem === undefined && textIn(query, 'done') !== null;
  const { deliveries, next } = await visit.operations.deliveries({ after });
  const body = html`<h1>${say('parked')}</h1>
    ${problem && notice(say(problem), true)} ${isDone && notice(say('doneReplay'), false)}
    <section aria-label="${say('deliveries')}">
      <p class="soft">${say('replayHelp')}</p>
      ${listOf(visit, deliveries, replayableRow)}
      ${linkIf(visit, next !== null, 'next', linkTo(visit, 'deliveries', { after: next ?? '' }))}
    </section>`;
  return page(visit, say('parked'), body);
}

function listOf<Item>(visit: Visit, items: readonly Item[], row: (visit: Visit, item: Item) => Html): Html {
  if (items.length === 0) return html`<p class="soft">${visit.words.say('nothing')}</p>`;
  return html`<ul>
    ${items.map((item) => row(visit, item))}
  </ul>`;
}

function linkIf({ words: { say } }: Visit, isShown: boolean, text: 'all' | 'next' | 'first', address: string) {
  return isShown && html`<p><a href="${address}">${say(text)}</a></p>`;
}

function recordRow(visit: Visit, record: Payment | Refund): Html {
  const { say } = visit.words;
  const { conversationId, amount, currencyCode, reference, createdAt } = record;
  return html`<li class="row">
    <a href="${paymentLink(visit, conversationId)}">${money(visit, amount, currencyCode)}</a>
    ${badge(visit, record)} <span>${reference ?? say('noReference')}</span>
    ${
      'refundId' in record
        ? html`<span class="soft">${record.kind === 'void' && say('voidKind')} ${record.by}</span>`
        : html`<code>${conversationId}</code>`
    }
    ${when(visit, createdAt)}
  </li>`;
}

function deliveryRow(visit: Visit, delivery: OperationsDelivery, form: Html | false = false): Html {
  const { handlerId, type, conversationId, attempts, error, at } = delivery;
  return html`<li>
    <div class="row">
      <a href="${paymentLink(visit, conversationId)}">${type}</a> <code>${handlerId}</code> ${when(visit, at)}
    </div>
    <p>${error} <span class="soft">${visit.words.say('attempts', attempts)}</span></p>
    ${form}
  </li>`;
}

/** With the button that has it delivered again, for whom may. */
export function replayableRow(visit: Visit, delivery: OperationsDelivery): Html {
  const { handlerId, eventId } = delivery;
  const form = html`<form method="post" action="${linkTo(visit, 'deliveries/replay')}">
    <input type="hidden" name="handlerId" value="${handlerId}" />
    <input type="hidden" name="eventId" value="${eventId}" />
    <button>${visit.words.say('replay')}<span class="unseen"> ${handlerId} ${eventId}</span></button>
  </form>`;
  return deliveryRow(visit, delivery, may(visit, 'replay') && form);
}
