import { otherGatewaysIn } from '../../payment/gateway-id.js';
import {
  isClaimed,
  type PaymentState,
  SALE_STATES,
  UNCLEAR_STATES,
  UNSETTLED_REFUND_STATES,
  UNSETTLED_SALE_STATES,
} from '../../payment/states.js';
import { type PaymentHistoryEntry, toPayment } from '../../payment/payment.js';
import { toRefund } from '../../payment/refund.js';
import type { StateCount } from '../../store/payment-store.js';
import { command, LIMIT_OPTION, limitOf, type Outcome, STORE_OPTIONS } from '../command.js';
import { type AccountStore, noSuch, withAccountStore } from './account-store.js';
import { gatewaysIn, readersOf } from './operator-flows.js';
import { counted, paymentFacts, paymentJson, paymentLine } from './payment-text.js';
import { type RefundedSale, refundsOf } from './refund.commands.js';
import { refundCountsLine, refundFacts, refundJson, refundLine, refundName, totalsLine } from './refund-text.js';
import { STATE_OPTION, statesIn } from './state-option.js';

const UNCLEAR_SALE_STATES = SALE_STATES.filter((state) => UNCLEAR_STATES.includes(state));
const UNDER_WAY = UNSETTLED_SALE_STATES.filter(isClaimed);

export const listPaymentsCommand = command({
  name: 'payments list',
  summary: 'Lists payments, by default those that need a person.',
  words: [],
  options: {
    state: {
      ...STATE_OPTION,
      about: `Only payments in these states (separated by commas), or "all"; ${UNCLEAR_SALE_STATES.join(',')} by default.`,
    },
    reference: {
      type: 'string',
      value: 'REFERENCE',
      about: "Only payments of this reference (the shop's own id), oldest first.",
    },
    ...LIMIT_OPTION,
    ...STORE_OPTIONS,
  },
  notes:
    `States: ${SALE_STATES.join(', ')}.\nThe payments that have been in their state the longest come first.\n` +
    'Refunds and voids are only counted: "payments refunds" lists them.',
  run(call) {
    const { reference, state, limit } = call.values;
    const states = statesIn(state, SALE_STATES) ?? (reference === undefined ? UNCLEAR_SALE_STATES : SALE_STATES);
    const max = limitOf(limit);
    return withAccountStore(call, async (opened) => {
      // Reads one more than it shows, to know whether there are more.
      const found = await find(opened, states, reference, max + 1);
      const payments = found.slice(0, max);
      const hasMore = found.length > max;
      const counts = await opened.store.counts(opened.account);
      const underWay = UNDER_WAY.reduce((sum, state) => sum + counts.states[state].count, 0);
      const subject = reference === undefined ? `in ${states.join(', ')}` : `of the reference ${reference}`;
      const text = [
        `${counted(payments.length, 'payment', 'payments')} ${subject}`,
        ...payments.map(paymentLine),
        ...(hasMore ? ['  … and more: see --limit'] : []),
        `${underWay} under way (${UNDER_WAY.join(', ')}), ${counts.states.pending.count} at the gateway's own page (pending)`,
        refundCountsLine(counts.refunds),
        counted(counts.parkedDeliveries, 'parked delivery', 'parked deliveries'),
      ].join('\n');
      return { text, json: { account: opened.account, payments: payments.map(paymentJson), hasMore } };
    });
  },
});

async function find(
  { store, account }: AccountStore,
  states: readonly PaymentState[],
  reference: string | undefined,
  limit: number,
) {
  const records =
    reference === undefined
      ? await store.listByState(account, 'payment', states, limit)
      : (await store.findByReference(account, reference)).filter(({ state }) =>
          (states as readonly string[]).includes(state),
        );
  return records.map((record) => toPayment(record));
}

export const showPaymentCommand = command({
  name: 'payments show',
  summary: 'Shows one payment with its refunds, or one refund, and its history.',
  words: ['CONVERSATION_ID'],
  options: STORE_OPTIONS,
  notes: 'The id of a refund or void is taken, too.',
  run(call) {
    const [id = ''] = call.words;
    return withAccountStore(call, async (opened) => {
      const refunded = await refundsOf(opened, id, call);
      return refunded ? showPayment(opened, refunded) : showRefund(opened, id);
    });
  },
});

async function showPayment(opened: AccountStore, { sale, records, totals }: RefundedSale): Promise<Outcome> {
  const payment = toPayment(sale);
  const refunds = records.map((record) => toRefund(record));
  const history = await readersOf(opened).payments.history(payment.conversationId);
  const text = [
    `Payment ${payment.conversationId}`,
    paymentFacts(payment),
    ...(refunds.length === 0 ? [] : ['Refunds and voids', ...refunds.map(refundLine)]),
    ...(refunds.length === 0 ? [] : [`  ${totalsLine(totals, payment.currencyCode)}`]),
    'History',
    ...history.map(historyLine),
  ];
  return {
    text: text.join('\n'),
    json: { payment: paymentJson(payment), history, refunds: refunds.map(refundJson), totals },
  };
}

async function showRefund(opened: AccountStore, id: string): Promise<Outcome> {
  const { refunds } = readersOf(opened);
  const record = await refunds.find(id);
  if (!record) throw noSuch(id, opened);
  const refund = toRefund(record);
  const history = await refunds.history(id);
  const text = [refundName(refund), refundFacts(refund), 'History', ...history.map(historyLine)];
  return { text: text.join('\n'), json: { refund: refundJson(refund), history } };
}

function historyLine({ at, version, state, reason, code, note, by }: PaymentHistoryEntry): string {
  return [
    `  ${at.toISOString()}  v${version}  ${state.padEnd(12)}`,
    reason,
    code,
    note && `“${note}”`,
    by && `by ${by}`,
  ]
    .filter(Boolean)
    .join('  ');
}

const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ['days', 86_400_000],
  ['hours', 3_600_000],
  ['minutes', 60_000],
  ['seconds', 1_000],
];

export const paymentStatsCommand = command({
  name: 'payments stats',
  summary: 'Counts the payments and refunds that are not settled, and the open deliveries.',
  words: [],
  options: STORE_OPTIONS,
  run: (call) => withAccountStore(call, (opened) => stats(opened, gatewaysIn(call))),
});

/** @param gateways those of the settings; null if these are not known here */
async function stats({ store, account }: AccountStore, gateways: readonly string[] | null): Promise<Outcome> {
  const others = gateways && otherGatewaysIn(await store.otherGateways(account, gateways));
  const counts = await store.counts(account);
  const at = await store.now();
  const { waitingEvents, openDeliveries, parkedDeliveries, orphanedDeliveries } = counts;
  const states = UNSETTLED_SALE_STATES.map((state) => [state, counts.states[state]] as const);
  const refunds = UNSETTLED_REFUND_STATES.map((state) => [state, counts.refunds[state]] as const);
  const text = [
    `Account ${account}`,
    ...states.map(([state, count]) => stateLine(state, count, at)),
    'Refunds and voids',
    ...refunds.map(([state, count]) => stateLine(state, count, at)),
    `Deliveries: ${openDeliveries} waiting (${orphanedDeliveries} of handlers that are gone), ` +
      `${parkedDeliveries} parked`,
    `Events that no handler takes yet: ${waitingEvents}`,
    ...(others?.count ? [`Made at another gateway (${others.hosts.join(', ')}): ${others.count} of these`] : []),
  ].join('\n');
  const json = {
    account,
    at,
    states: Object.fromEntries(states),
    refunds: Object.fromEntries(refunds),
    otherGateway: others && others.count,
    waitingEvents,
    openDeliveries,
    parkedDeliveries,
    orphanedDeliveries,
  };
  return { text, json };
}

function stateLine(state: string, { count, oldest }: StateCount, now: Date): string {
  const since = oldest ? `  the oldest since ${oldest.toISOString()} (${ageOf(now.getTime() - oldest.getTime())})` : '';
  return `  ${state.padEnd(12)}${String(count).padStart(8)}${since}`;
}

/** The age in the largest unit that fits at least twice, rounded down: `3 hours`. */
function ageOf(ms: number): string {
  const [name, unit] = UNITS.find(([, size]) => ms >= 2 * size) ?? ['seconds', 1_000];
  return `${Math.max(0, Math.floor(ms / unit))} ${name}`;
}
