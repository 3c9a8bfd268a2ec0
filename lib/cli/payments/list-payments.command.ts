import { nearest } from '../../options/near-misses.js';
import { toPayment } from '../../payment/payment.js';
import {
  ALL_STATES,
  isClaimed,
  type PaymentState,
  UNCLEAR_STATES,
  UNSETTLED_STATES,
} from '../../payment/payment-state.js';
import { command } from '../command.js';
import { LIMIT_OPTION, STORE_OPTIONS } from '../common-options.js';
import { UsageError } from '../usage.error.js';
import { limitOf } from '../whole-number.js';
import { type AccountStore, withAccountStore } from './account-store.js';
import { counted, paymentJson, paymentLine } from './payment-text.js';

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
      about: `Those in these states, with commas between them, or "all"; ${UNCLEAR_STATES.join(',')} by default.`,
    },
    reference: {
      type: 'string',
      value: 'REFERENCE',
      about: "All attempts at one of the shop's own ids, oldest first.",
    },
    ...LIMIT_OPTION,
    ...STORE_OPTIONS,
  },
  notes: `States: ${ALL_STATES.join(', ')}.\nThe payments that have been as they are the longest come first.`,
  run(call) {
    const { reference, state, limit } = call.values;
    const states = statesOf(state ?? []) ?? (reference === undefined ? UNCLEAR_STATES : ALL_STATES);
    const max = limitOf(limit);
    return withAccountStore(call, async (opened) => {
      // One more than is shown tells whether there are more.
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

/** @returns null where none is given */
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
