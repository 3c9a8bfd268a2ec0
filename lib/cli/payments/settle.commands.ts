import type { ResolveOptions } from '../../operations/resolution.js';
import { isLoopbackUrl } from '../../options/url-checks.js';
import type { PaymentSettings } from '../../options/payment-settings.js';
import { variableOf } from '../../payment/account.js';
import { isClaimed, type LedgerState } from '../../payment/states.js';
import type { Payment } from '../../payment/payment.js';
import type { Refund } from '../../payment/refund.js';
import { command, CommandFailedError, STORE_OPTIONS, UsageError } from '../command.js';
import { type AccountStore, noSuch, withAccountStore } from './account-store.js';
import {
  gatewaySettings,
  type GatewayUse,
  operatorFlows,
  readersOf,
  refuseEmbeddedSimulator,
  userName,
  withGateway,
} from './operator-flows.js';
import { paymentJson } from './payment-text.js';
import { refundJson, refundName } from './refund-text.js';

const ABANDONING: GatewayUse = {
  method: 'abandon',
  task: "ask whether a payment at the gateway's own page was made",
  instead: 'It cannot open such a page either.',
};

const INQUIRY: GatewayUse = {
  method: 'inquire',
  task: 'ask for the outcome of a payment',
  instead: 'Look the payment up in the panel of the gateway, then use "payments resolve".',
};

/** A payment, or a refund or void. */
type Found = { readonly payment: Payment } | { readonly refund: Refund };

export const inquirePaymentCommand = command({
  name: 'payments inquire',
  summary: 'Asks the gateway for the outcome of a payment or refund, and settles it by the answer. Moves no money.',
  words: ['CONVERSATION_ID'],
  options: STORE_OPTIONS,
  notes:
    'The id of a refund or void is taken, too. Whether the gateway knows refunds is unverified.\n' +
    "It reads the application's settings from the environment and does not know what the application sets in code.\n" +
    'If the gateway gives no clear answer, the payment stays as it is, and the exit status is 1.',
  run(call) {
    const [id = ''] = call.words;
    refuseEmbeddedSimulator(call, INQUIRY);
    return withAccountStore(call, async (opened) => {
      const settings = gatewaySettings(call, INQUIRY);
      const isRefund = await isRefundId(opened, id);
      const found = await withGateway<Found>(opened, settings, async ({ inquiries }) =>
        isRefund ? { refund: await inquiries.inquireRefund(id) } : { payment: await inquiries.inquire(id) },
      );
      const state = stateOf(found);
      const isOpen = state === 'unknown' || state === 'pending' || isClaimed(state);
      const why =
        state === 'pending'
          ? 'the gateway did not say that it was paid'
          : `the gateway gave no clear answer, or none${simulatorNote(settings)}`;
      return {
        text: isOpen ? `${nameOf(found)} is still ${state}: ${why}.` : `${nameOf(found)} is ${state}.`,
        json: jsonOf(found),
        status: isOpen ? 1 : 0,
      };
    });
  },
});

export const abandonPaymentCommand = command({
  name: 'payments abandon',
  summary: "Gives up a payment at the gateway's own page, unless the gateway says that it was paid. Experimental.",
  words: ['CONVERSATION_ID'],
  options: STORE_OPTIONS,
  notes:
    'The gateway is asked once. If nothing was paid, the payment is expired and its reference is free. The gateway does\n' +
    'not close the page: a buyer who still has it open can pay there, and the payment is in review then.\n' +
    "It reads the application's settings from the environment and does not know what the application sets in code.\n" +
    'If it was paid, or the gateway gives no clear answer, the exit status is 1.',
  run(call) {
    const [id = ''] = call.words;
    refuseEmbeddedSimulator(call, ABANDONING);
    return withAccountStore(call, async (opened) => {
      const settings = gatewaySettings(call, ABANDONING);
      if (await isRefundId(opened, id)) throw new CommandFailedError('A refund or void cannot be abandoned.');
      const payment = await withGateway(opened, settings, ({ inquiries }) =>
        inquiries.abandon(id, userName() ?? 'the command line'),
      );
      const isFree = payment.state === 'expired' || payment.state === 'failed';
      return {
        text: `${nameOf({ payment })} ${isFree ? `is ${payment.state}` : notAbandoned(payment, settings)}.`,
        json: jsonOf({ payment }),
        status: isFree ? 0 : 1,
      };
    });
  },
});

function notAbandoned({ state }: Payment, settings: PaymentSettings): string {
  if (state !== 'pending' && state !== 'unknown') return `was not given up: it is ${state}`;
  return `is still ${state}: the gateway gave no clear answer, or none${simulatorNote(settings)}`;
}

/** A gateway on this machine is a simulator, which forgets all payments when it ends. */
function simulatorNote({ account, baseUrl }: PaymentSettings): string {
  if (!isLoopbackUrl(baseUrl)) return '';
  const variable = variableOf(account, 'baseUrl');
  return `. It is on this machine (${variable}): a simulator forgets its payments when it stops`;
}

export const resolvePaymentCommand = command({
  name: 'payments resolve',
  summary: 'Settles a payment or refund in unknown or review, after you have looked it up at the gateway or the bank.',
  words: ['CONVERSATION_ID', 'succeeded|failed'],
  options: {
    note: { type: 'string', value: 'TEXT', about: 'How it was found out; kept in the history. Required.' },
    by: { type: 'string', value: 'NAME', about: 'Who resolves it; kept in the history. Default: your user name here.' },
    force: { type: 'boolean', about: 'Resolves it as failed even if it was interrupted within the last hour.' },
    ...STORE_OPTIONS,
  },
  notes:
    'The id of a refund or void is taken, too: succeeded means that the money was given back, failed that it was not.\n' +
    'A host that was only suspended may still send a payment that was interrupted. Before you use --force, make sure\n' +
    'that the process that claimed it has ended.',
  run(call) {
    const [id = '', state] = call.words;
    const { note, by = userName(), force = false } = call.values;
    if (state !== 'succeeded' && state !== 'failed') {
      throw new UsageError('"payments resolve" takes a conversationId or refundId, then succeeded or failed.');
    }
    if (!note?.trim()) throw new UsageError('"payments resolve" needs --note: how it was found out.');
    if (by?.trim() === '') throw new UsageError('"payments resolve" takes --by with a name.');
    return withAccountStore(call, async (opened) => {
      const found = await resolve(opened, id, state, note, { by, force });
      const who = by === undefined ? '' : `, resolved by ${by}`;
      return { text: `${nameOf(found)} is ${stateOf(found)}${who}.`, json: jsonOf(found) };
    });
  },
});

/** Does the same as `PaymentService.resolve` and `resolveRefund`. */
async function resolve(
  opened: AccountStore,
  id: string,
  state: 'succeeded' | 'failed',
  note: string,
  options: ResolveOptions,
): Promise<Found> {
  const { clock, operator } = operatorFlows(opened);
  const isRefund = await isRefundId(opened, id);
  await clock.check();
  if (isRefund) return { refund: await operator.resolveRefund(id, state, note, options) };
  return { payment: await operator.resolve(id, state, note, options) };
}

/** @throws CommandFailedError if no payment and no refund has the id */
async function isRefundId(opened: AccountStore, id: string): Promise<boolean> {
  const { payments, refunds } = readersOf(opened);
  if (await payments.find(id)) return false;
  if (await refunds.find(id)) return true;
  throw noSuch(id, opened);
}

function stateOf(found: Found): LedgerState {
  return 'refund' in found ? found.refund.state : found.payment.state;
}

function nameOf(found: Found): string {
  return 'refund' in found ? refundName(found.refund) : `Payment ${found.payment.conversationId}`;
}

function jsonOf(found: Found): object {
  return 'refund' in found ? { refund: refundJson(found.refund) } : { payment: paymentJson(found.payment) };
}
