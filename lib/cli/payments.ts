import { currencyLetters } from '../payment/amount.js';
import type { Payment } from '../payment/payment.js';
import {
  isClaimed,
  SALE_STATES,
  UNCLEAR_STATES,
  UNSETTLED_REFUND_STATES,
  UNSETTLED_SALE_STATES,
} from '../payment/states.js';
import type { Refund } from '../payment/refund.js';
import { type Call, CommandFailedError, listOf, type Outcome, type Run, UsageError, wholeNumber } from './command.js';
import { type Account, whoAsks, withAccount } from './open-account.js';

const PAYMENT_COLUMNS = ['conversationId', 'state', 'amount', 'currency', 'updatedAt', 'reason', 'code', 'reference'];
export const COLUMNS = {
  payments: PAYMENT_COLUMNS,
  refunds: ['refundId', 'kind', ...PAYMENT_COLUMNS.slice(1, -1), 'conversationId', 'note', 'by'],
};

/** What is said of a payment or refund that has no outcome after the gateway was asked. */
const NO_CLEAR_ANSWER = 'the gateway gave no clear answer, or none.';

export const list: Run = (call) => {
  const { reference } = call.options;
  const byDefault = reference === undefined ? SALE_STATES.filter((state) => UNCLEAR_STATES.includes(state)) : undefined;
  const query = { state: statesOf(call, SALE_STATES) ?? byDefault, reference, ...pageOf(call) };
  return withAccount(call, async ({ operations, account }) => {
    const { payments, next } = await operations.list(query);
    const { states, refunds, deliveries } = await operations.counts();
    const besides = {
      underWay: UNSETTLED_SALE_STATES.filter(isClaimed).reduce((sum, state) => sum + states[state].count, 0),
      pending: states.pending.count,
      openRefunds: UNSETTLED_REFUND_STATES.reduce((sum, state) => sum + refunds[state].count, 0),
      parkedDeliveries: deliveries.parked,
    };
    return { json: { account, payments: payments.map(withLetters), next, besides }, columns: COLUMNS };
  });
};

export const show: Run = (call) =>
  withAccount(call, async (opened) => {
    const { operations, payments } = opened;
    const [id = ''] = call.args;
    const found = await foundBy(opened, id);
    const history = await operations.history(found.conversationId);
    if (isRefund(found)) {
      return { json: { refund: withLetters(found), history: history.filter(({ refundId }) => refundId === id) } };
    }
    const refunds = (await payments.refunds(id)).map(withLetters);
    const totals = await payments.refundTotals(id);
    return { json: { payment: withLetters(found), history, refunds, totals }, columns: COLUMNS };
  });

export const stats: Run = (call) =>
  withAccount(call, async ({ operations, account, isGatewayKnown }) => {
    const counts = await operations.counts();
    return { json: { account, ...counts, otherGateway: isGatewayKnown ? counts.otherGateway : null } };
  });

export const inquire: Run = (call) => {
  const member = { by: whoAsks(call) };
  return withAccount(
    call,
    async (opened) => {
      const [id = ''] = call.args;
      const { operations } = opened;
      const found = await foundBy(opened, id);
      const asked = isRefund(found) ? await operations.inquireRefund(id, member) : await operations.inquire(id, member);
      const { state } = asked;
      if (state !== 'unknown' && state !== 'pending' && !isClaimed(state)) return outcomeOf(asked);
      const why = state === 'pending' ? 'the gateway did not say that it was paid.' : NO_CLEAR_ANSWER;
      return { ...outcomeOf(asked), status: 1, remark: `It is still ${state}: ${why}` };
    },
    true,
  );
};

export const abandon: Run = (call) => {
  const member = { by: whoAsks(call) };
  return withAccount(
    call,
    async (opened) => {
      const [id = ''] = call.args;
      if (isRefund(await foundBy(opened, id))) throw new CommandFailedError('A refund or void cannot be abandoned.');
      const payment = await opened.operations.abandon(id, member);
      const { state } = payment;
      if (state === 'expired' || state === 'failed') return outcomeOf(payment);
      const isOpen = state === 'pending' || state === 'unknown';
      const remark = isOpen ? `It is still ${state}: ${NO_CLEAR_ANSWER}` : `It was not given up: it is ${state}.`;
      return { ...outcomeOf(payment), remark, status: 1 };
    },
    true,
  );
};

export const resolve: Run = (call) => {
  const [id = '', state] = call.args;
  const { note } = call.options;
  if (state !== 'succeeded' && state !== 'failed') {
    throw new UsageError('"payments resolve" takes a conversationId or refundId, then succeeded or failed.');
  }
  if (!note?.trim()) throw new UsageError('"payments resolve" needs --note: how it was found out.');
  const options = { by: whoAsks(call), force: call.flags.has('force') };
  return withAccount(call, async (opened) => {
    const { operations } = opened;
    const found = await foundBy(opened, id);
    if (isRefund(found)) return outcomeOf(await operations.resolveRefund(id, state, note, options));
    return outcomeOf(await operations.resolve(id, state, note, options));
  });
};

export const parked: Run = (call) => {
  const page = pageOf(call);
  return withAccount(call, async ({ operations, account }) => ({
    json: { account, ...(await operations.deliveries(page)) },
  }));
};

export const replay: Run = (call) => {
  const [handlerId = '', eventId = ''] = call.args;
  const by = whoAsks(call);
  return withAccount(call, async ({ operations, account }) => {
    if (await operations.replay(handlerId, eventId, { by })) return { json: { account, handlerId, eventId } };
    throw new CommandFailedError(
      `There is no parked delivery of ${eventId} to ${handlerId}; "payments parked" lists them.`,
    );
  });
};

/** @throws CommandFailedError if no payment and no refund has the id */
export async function foundBy({ operations, account }: Account, id: string): Promise<Payment | Refund> {
  const found = await operations.find(id);
  if (found) return found;
  throw new CommandFailedError(`There is no payment or refund ${id} in the account "${account}".`);
}

export function isRefund(found: Payment | Refund): found is Refund {
  return 'refundId' in found;
}

export function outcomeOf(found: Payment | Refund): Outcome {
  return { json: isRefund(found) ? { refund: withLetters(found) } : { payment: withLetters(found) } };
}

/** With the letters of its currency; null if no currency has its number. */
export function withLetters<Shown extends Payment | Refund>(shown: Shown) {
  return { ...shown, currency: currencyLetters(shown.currencyCode) };
}

/** Reads `--limit` and `--after`. */
export function pageOf(call: Call): { readonly limit: number; readonly after: string | null } {
  return {
    limit: wholeNumber(call, 'limit', { min: 1, max: 1_000, byDefault: 100 }),
    after: call.options.after ?? null,
  };
}

/**
 * Reads `--state`.
 *
 * @returns undefined if none is given
 * @throws UsageError
 */
export function statesOf<State extends string>(
  { options }: Call,
  states: readonly State[],
): readonly State[] | undefined {
  const names = listOf(options.state);
  if (names.length === 0) return undefined;
  if (names.includes('all')) return states;
  return names.map((name) => {
    const state = states.find((one) => one === name);
    if (state !== undefined) return state;
    throw new UsageError(`--state: there is no state "${name}"; there are ${states.join(', ')}`);
  });
}
