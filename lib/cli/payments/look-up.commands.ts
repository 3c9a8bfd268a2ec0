import { nearest } from '../../options/near-misses.js';
import {
  ALL_STATES,
  isClaimed,
  type PaymentState,
  UNCLEAR_STATES,
  UNSETTLED_STATES,
} from '../../payment/payment-state.js';
import { type PaymentHistoryEntry, toPayment } from '../../payment/payment.js';
import type { StateCount } from '../../store/payment-store.js';
import { command, CommandFailedError, LIMIT_OPTION, limitOf, STORE_OPTIONS, UsageError } from '../command.js';
import { type AccountStore, withAccountStore } from './account-store.js';
import { counted, paymentFacts, paymentJson, paymentLine } from './payment-text.js';

const UNDER_WAY = UNSETTLED_STATES.filter(isClaimed);

export const listPaymentsCommand = command({
  name: 'payments list',
  summary: 'Lists payments, by default those that need a person.',
  words: [],
  options: {
    state: {
      type: 'string',
      multiple: true,
      value: 'STATES',
      about: `Only payments in these states (separated by commas), or "all"; ${UNCLEAR_STATES.join(',')} by default.`,
    },
    reference: {
      type: 'string',
      value: 'REFERENCE',
      about: "Only payments of this reference (the shop's own id), oldest first.",
    },
    ...LIMIT_OPTION,
    ...STORE_OPTIONS,
  },
  notes: `States: ${ALL_STATES.join(', ')}.\nThe payments that have been in their state the longest come first.`,
  run(call) {
    const { reference, state, limit } = call.values;
    const states = statesOf(state ?? []) ?? (reference === undefined ? UNCLEAR_STATES : ALL_STATES);
    const max = limitOf(limit);
    return withAccountStore(call, async (opened) => {
      // Reads one more than it shows, to know whether there are more.
      const found = await find(opened, states, reference, max + 1);
      const payments = found.slice(0, max);
      const hasMore = found.length > max;
      const { states: counts, parkedDeliveries } = await opened.store.counts(opened.account);
      const underWay = UNDER_WAY.reduce((sum, state) => sum + counts[state].count, 0);
      const subject = reference === undefined ? `in ${states.join(', ')}` : `of the reference ${reference}`;
      const text = [
        `${counted(payments.length, 'payment', 'payments')} ${subject}`,
        ...payments.map(paymentLine),
        ...(hasMore ? ['  … and more: see --limit'] : []),
        `${underWay} under way (${UNDER_WAY.join(', ')})`,
        counted(parkedDeliveries, 'parked delivery', 'parked deliveries'),
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
      ? await store.listByState(account, states, limit)
      : (await store.findByReference(account, reference)).filter(({ state }) => states.includes(state));
  return records.map((record) => toPayment(record));
}

/** @returns null if none is given */
function statesOf(given: readonly string[]): readonly PaymentState[] | null {
  const names = given.flatMap((text) => text.split(',')).map((text) => text.trim());
  if (names.length === 0) return null;
  if (names.includes('all')) return ALL_STATES;
  for (const name of names) {
    if (ALL_STATES.some((state) => state === name)) continue;
    const near = nearest(name, ALL_STATES);
    const meant = near === null ? `there are ${ALL_STATES.join(', ')}` : `did you mean ${near}?`;
    throw new UsageError(`--state: there is no state "${name}"; ${meant}`);
  }
  return names as PaymentState[];
}

export const showPaymentCommand = command({
  name: 'payments show',
  summary: 'Shows one payment and its history.',
  words: ['CONVERSATION_ID'],
  options: STORE_OPTIONS,
  run(call) {
    const [conversationId = ''] = call.words;
    return withAccountStore(call, async ({ store, account }) => {
      const record = await store.find(account, conversationId);
      if (!record) {
        throw new CommandFailedError(`There is no payment ${conversationId} in the account "${account}".`);
      }
      const payment = toPayment(record);
      const history = await store.history(account, conversationId);
      const text = [`Payment ${conversationId}`, paymentFacts(payment), 'History', ...history.map(historyLine)];
      return { text: text.join('\n'), json: { payment: paymentJson(payment), history } };
    });
  },
});

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
  summary: 'Counts the payments that are not settled, and the open deliveries.',
  words: [],
  options: STORE_OPTIONS,
  run: (call) =>
    withAccountStore(call, async ({ store, account }) => {
      const counts = await store.counts(account);
      const at = await store.now();
      const { states, waitingEvents, openDeliveries, parkedDeliveries, orphanedDeliveries } = counts;
      const text = [
        `Account ${account}`,
        ...Object.entries(states).map(([state, count]) => stateLine(state, count, at)),
        `Deliveries: ${openDeliveries} waiting (${orphanedDeliveries} of handlers that are gone), ` +
          `${parkedDeliveries} parked`,
        `Events that no handler takes yet: ${waitingEvents}`,
      ].join('\n');
      const json = { account, at, states, waitingEvents, openDeliveries, parkedDeliveries, orphanedDeliveries };
      return { text, json };
    }),
});

function stateLine(state: string, { count, oldest }: StateCount, now: Date): string {
  const since = oldest ? `  the oldest since ${oldest.toISOString()} (${ageOf(now.getTime() - oldest.getTime())})` : '';
  return `  ${state.padEnd(12)}${String(count).padStart(8)}${since}`;
}

/** The age in the largest unit that fits at least twice, rounded down: `3 hours`. */
function ageOf(ms: number): string {
  const [name, unit] = UNITS.find(([, size]) => ms >= 2 * size) ?? ['seconds', 1_000];
  return `${Math.max(0, Math.floor(ms / unit))} ${name}`;
}
