import { PaymentDuplicateError } from '../errors/payment-errors.js';
import type { GatewayClient } from '../gateway/gateway-client.js';
import {
  AMOUNT_TEXTS,
  amountWithCurrency,
  canonicalAmount,
  compareAmounts,
  currencyLetters,
} from '../payment/amount.js';
import type { Payment, RefundKind } from '../payment/payment.js';
import { REFUND_STATES, UNCLEAR_STATES } from '../payment/states.js';
import type { Refund } from '../payment/refund.js';
import { type Call, CommandFailedError, type Outcome, type Run, UsageError } from './command.js';
import { escaped, layOut } from './layout.js';
import { type Account, whoAsks, withAccount } from './open-account.js';
import { COLUMNS, isRefund, outcomeOf, pageOf, statesOf, withLetters } from './payments.js';

export const refund: Run = (call) => giveBack('refund', call);
export const callOff: Run = (call) => giveBack('void', call);

/** What is about to be sent, as it is shown to whoever is asked. */
interface Plan {
  readonly kind: RefundKind;
  readonly conversationId: string;
  readonly reference: string | null;
  readonly maskedCardNumber: string | null;
  readonly amount: string;
  readonly currency: string | null;
  /** What is left to give back. */
  readonly refundable: string;
}

function giveBack(kind: RefundKind, call: Call): Promise<Outcome> {
  const { amount, ...input } = inputOf(call);
  const { ask } = call.terminal;
  const isDry = call.flags.has('dry-run');
  const mustAsk = !isDry && !call.flags.has('yes');
  if (mustAsk && !ask) {
    throw new UsageError(
      `"payments ${kind}" asks before it sends anything, and there is no terminal here to ask at: give --yes, or ` +
        '--dry-run to see what would be sent.',
    );
  }
  return withAccount(
    call,
    async (opened) => {
      const payment = await paymentOf(opened, input.conversationId);
      const plan = await planOf(kind, payment, amount, opened);
      if (isDry) return wouldSend(plan);
      if (mustAsk && ask) {
        const answer = await ask(`${layOut(plan)}\nSend this ${kind}? [y/N] `);
        if (!/^y(es)?$/i.test(answer.trim())) return { remark: 'Nothing was sent.', status: 1 };
      }
      const sending = sendingAsShown(opened.gateway, plan, call);
      const { operations } = opened;
      const given = kind === 'void' ? operations.void(input) : operations.refund({ ...input, amount });
      const done = await orTaken(given);
      return refundOutcome(done, sending.isSent ? '' : `Nothing was sent: this ${kind} was asked for before. `);
    },
    true,
  );
}

async function planOf(kind: RefundKind, payment: Payment, asked: string | undefined, opened: Account): Promise<Plan> {
  const { conversationId, reference, maskedCardNumber, currencyCode } = payment;
  const { taken, refundable } = await opened.payments.refundTotals(conversationId);
  const all = kind === 'void' ? taken : refundable;
  const given =
    asked === undefined ? { text: all } : canonicalAmount(asked, currencyCode, opened.settings.amountFormat);
  if ('problem' in given) throw new UsageError(`--${AMOUNT_TEXTS[given.problem].en}.`);
  const currency = currencyLetters(currencyCode);
  return { kind, conversationId, reference, maskedCardNumber, amount: given.text, currency, refundable };
}

function wouldSend(plan: Plan): Outcome {
  const isTooMuch = (compareAmounts(plan.amount, plan.refundable) ?? 1) > 0 || compareAmounts(plan.amount, '0') === 0;
  const remark = isTooMuch
    ? `It would be refused: ${plan.refundable} is left to give back. Nothing was sent.`
    : 'Nothing was sent: without --dry-run it would be.';
  return { json: { dryRun: true, ...plan }, remark, status: isTooMuch ? 1 : 0 };
}

/**
 * Names the refund before it is sent, so that it can be looked up even if this process is killed meanwhile; and sends
 * none whose amount is not the one that was shown, as where another refund was made since.
 */
function sendingAsShown(gateway: GatewayClient, plan: Plan, call: Call): { readonly isSent: boolean } {
  const sending = { isSent: false };
  const send = gateway.charge.bind(gateway);
  gateway.charge = async (kind, request, question, claim) => {
    const { conversationId: refundId, amount, currencyCode } = question.expected;
    sending.isSent = true;
    if (compareAmounts(amount, plan.amount) !== 0)
      return { sent: false, why: 'its amount is not the one that was shown' };
    const what = `${kind} ${refundId} of payment ${plan.conversationId}: ${amountWithCurrency(amount, currencyCode)}`;
    await call.terminal.print(`${escaped(`Sending the ${what}`)}\n`, 'stderr');
    return send(kind, request, question, claim);
  };
  return sending;
}

export const record: Run = (call) => {
  const { amount, note, ...input } = inputOf(call);
  if (amount === undefined) throw new UsageError('"payments record-refund" needs --amount.');
  if (input.refundId === undefined && input.idempotencyKey === undefined) {
    throw new UsageError(
      '"payments record-refund" needs --refund-id or --key, so that it is written down once however often it is repeated.',
    );
  }
  if (note === undefined) throw new UsageError('"payments record-refund" needs --note: where it was made, and why.');
  return withAccount(call, async (opened) => {
    await paymentOf(opened, input.conversationId);
    return refundOutcome(await orTaken(opened.operations.recordRefund({ ...input, amount, note })));
  });
};

export const list: Run = (call) => {
  const [conversationId] = call.args;
  const states = statesOf(call, REFUND_STATES);
  const page = pageOf(call);
  return withAccount(call, async (opened) => {
    const { operations, payments, account } = opened;
    if (conversationId === undefined) {
      const state = states ?? REFUND_STATES.filter((one) => UNCLEAR_STATES.includes(one));
      const { refunds, next } = await operations.listRefunds({ state, ...page });
      return { json: { account, refunds: refunds.map(withLetters), next, totals: null }, columns: COLUMNS };
    }
    await paymentOf(opened, conversationId);
    const refunds = (await payments.refunds(conversationId)).filter(({ state }) => states?.includes(state) ?? true);
    const totals = await payments.refundTotals(conversationId);
    return { json: { account, refunds: refunds.map(withLetters), next: null, totals }, columns: COLUMNS };
  });
};

async function paymentOf({ operations, account }: Account, id: string): Promise<Payment> {
  const found = await operations.find(id);
  if (found && !isRefund(found)) return found;
  throw new CommandFailedError(`There is no payment ${id} in the account "${account}".`);
}

/** The input of `PaymentOperations.refund`. */
function inputOf(call: Call) {
  const [conversationId = ''] = call.args;
  const { amount, 'refund-id': refundId, key: idempotencyKey, note } = call.options;
  if (refundId !== undefined && idempotencyKey !== undefined) {
    throw new UsageError('Give --refund-id or --key, not both.');
  }
  return { conversationId, amount, refundId, idempotencyKey, note, by: whoAsks(call) };
}

function refundOutcome(done: Refund, already = ''): Outcome {
  const { refundId, state, stored } = done;
  const resolving = `settle it: payments resolve ${refundId} succeeded|failed --note TEXT`;
  const remarks: Readonly<Record<Refund['state'], string>> = {
    succeeded: '',
    failed: 'Nothing was given back.',
    refunding: `It is still under way. Look again: payments show ${refundId}`,
    unknown:
      'Money may have been given back, so do not repeat it. Ask the gateway: ' +
      `payments inquire ${refundId}; or look it up in its panel, then ${resolving}`,
    review:
      "The gateway's answer contradicts the request, so do not repeat it. Look it up in the panel of the gateway, then " +
      resolving,
  };
  const unstored = stored ? '' : ' The store has not accepted this outcome: write it down.';
  const remark = `${already}${remarks[state]}${unstored}`.trim();
  const status = state === 'succeeded' && stored ? 0 : 1;
  return { ...outcomeOf(done), status, ...(remark !== '' && { remark }) };
}

/** Says which refund has the id or the key, where it is another one's. */
async function orTaken(given: Promise<Refund>): Promise<Refund> {
  try {
    return await given;
  } catch (error) {
    if (!(error instanceof PaymentDuplicateError && error.refund)) throw error;
    const { refundId, conversationId } = error.refund;
    throw new CommandFailedError(`${error.message} It is ${refundId} of payment ${conversationId}.`);
  }
}
